// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The name and the password for another proxy, and what is said when it does not take them.
extension UpstreamProxy {
  /// The field with its credentials, with its line's end; empty if there is no user.
  var authorization: String {
    guard let user else { return "" }
    return "Proxy-Authorization: Basic \(Base64.encoded(Array("\(user):\(password?.text ?? "")".utf8)))\r\n"
  }

  /// The refusal for its 407, which says what it takes (RFC 9110 §11.7.1).
  func credentialsRefusal(by head: MessageHead) -> ProxyRefusal {
    // A field may hold several, and a quoted text commas; a parameter has an equals sign.
    let challenges = head.values(.proxyAuthenticate).flatMap { value -> [Substring] in
      let parts = head.text(value).split(separator: "\"", omittingEmptySubsequences: false)
      let unquoted: String = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }.joined(separator: "")
      return unquoted.split(separator: ",")
    }
    let schemes = challenges.compactMap { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).first }
      .filter { $0.utf8.count <= 32 && $0.utf8.allSatisfy(\.isTokenByte) }
    guard !schemes.isEmpty, !schemes.contains(where: { $0.lowercased() == "basic" }) else { return credentialsRefusal }
    let names = schemes.prefix(4).joined(separator: " or ")
    return ProxyRefusal(
      502, "destination_unavailable",
      "The upstream proxy \(self) wants a password by \(names), and it can be sent by Basic alone: have it take Basic, "
        + "or give --upstream a proxy that speaks \(names) to it.")
  }

  var credentialsRefusal: ProxyRefusal {
    ProxyRefusal(
      502, "destination_unavailable",
      user == nil
        ? "The upstream proxy \(self) wants a name and a password: give --upstream a URL with them."
        : "The upstream proxy \(self) does not take the name and the password of --upstream.")
  }
}
