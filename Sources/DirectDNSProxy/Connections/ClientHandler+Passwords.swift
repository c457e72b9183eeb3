// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Who a client is.
extension ClientHandler {
  /// Starts a request if its name and password are right, and refuses it if not.
  func authenticate(_ request: ClientRequest, _ users: ProxyUsers) {
    let head = request.head
    guard let value = head.onlyValue(.proxyAuthorization),
      let credentials = BasicCredentials(head.bytes.span.extracting(value))
    else { return refuse(Self.missing, request) }
    switch users.quickCheck(credentials.name, credentials.password) {
    case .correct: start(request, user: credentials.name)
    case .token: start(request, user: ProxyUsers.tokenUser)
    case .wrong: refuse(Self.refusal(of: credentials), request)
    case .needsHash:
      let isTaken = checkPassword(users, credentials) { [self] isCorrect in
        if isCorrect {
          start(request, user: credentials.name)
        } else {
          refuse(Self.refusal(of: credentials), request)
        }
      }
      guard !isTaken else { return }
      refuse(
        ProxyRefusal(
          503, nil, "Too many passwords from your address wait to be checked: try again in some seconds."), request)
    }
  }

  private static var missing: ProxyRefusal {
    challenge("This proxy wants a name and a password: put them into the proxy's URL, http://USER:PASSWORD@HOST:PORT.")
  }

  /// The refusal of a name and a password that are not right; a token that stands before the `@` alone is a name.
  private static func refusal(of credentials: BasicCredentials) -> ProxyRefusal {
    credentials.password.isEmpty ? missing : challenge("The name or the password is wrong: see the proxy's URL.")
  }

  private static func challenge(_ text: String) -> ProxyRefusal {
    ProxyRefusal(407, nil, text, challenge: "DirectDNS proxy")
  }

  /// Checks a password away from the loop, which a slow hash would block.
  ///
  /// - Returns: whether it will be checked: not if too many of this client's address wait.
  func checkPassword(
    _ users: ProxyUsers, _ credentials: BasicCredentials, _ completion: @escaping (Bool) -> Void
  ) -> Bool {
    let bound = NIOLoopBound((self, completion), eventLoop: loop.eventLoop)
    let entrance = loop.entrance
    let (name, password) = (credentials.name, credentials.password)
    let ticket = loop.shared.passwords.add(users.tag(name, password), from: address) {
      users.checkHash(name, password)
    } completion: { isCorrect in
      entrance.execute {
        let (client, completion) = bound.value
        guard case .authenticating = client.state else { return }
        completion(isCorrect)
        client.processInput()
        client.resume()
      }
    }
    guard let ticket else { return false }
    state = .authenticating(ticket, since: .now())
    return true
  }
}
