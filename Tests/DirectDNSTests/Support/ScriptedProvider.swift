// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// A provider whose requests and replies are what ``ScriptedTransport`` reads and writes.
///
/// Status and `Retry-After` are judged as all providers judge them.
struct ScriptedProvider: Provider, Hashable {
  let name: String
  let url: WebURL

  init(_ name: String) {
    self.name = name
    url = Sample.url("https://\(name).example/")
  }

  func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    HTTPMessage(url: "\(question.host) \(question.family)")
  }

  func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus()
    let parts = String(decoding: reply.body, as: UTF8.self).split(
      separator: "|", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("not a reply") }
    let ttl = UInt32(parts[1])
    let alias = parts[2].isEmpty ? nil : Sample.name(String(parts[2]))
    switch parts[0] {
    case "nameNotFound": return Answer(.negative(.nameNotFound), ttl: ttl, canonicalName: alias)
    case "noAddress": return Answer(.negative(.noAddress), ttl: ttl, canonicalName: alias)
    case let text where text.hasPrefix("code "):
      throw ProviderFailure(.response, "answered \(text.dropFirst(5))")
    case let text:
      let addresses = text.split(separator: ",").map { Sample.address(String($0)) }
      return Answer(.addresses(addresses), ttl: ttl, canonicalName: alias)
    }
  }

  static func body(_ answer: Answer) -> [UInt8] {
    let content =
      switch answer.content {
      case .addresses(let addresses): addresses.map(\.description).joined(separator: ",")
      case .negative(let negative): "\(negative)"
      }
    let ttl = answer.ttl.map { "\($0)" } ?? ""
    return Array("\(content)|\(ttl)|\(answer.canonicalName?.text ?? "")".utf8)
  }

  static func question(_ message: HTTPMessage) -> AddressQuestion {
    let parts = message.url.split(separator: " ")
    return AddressQuestion(Sample.name(String(parts[0])), parts[1] == "ipv4" ? .ipv4 : .ipv6)
  }
}
