// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The beginning of a SOCKS connection: SOCKS5 (RFC 1928, RFC 1929), SOCKS4 and SOCKS4a.
///
/// A value that is fed with bytes: it has no connection, and never blocks.
struct SOCKSHandshake {
  enum Step: Equatable {
    /// More bytes are needed.
    case wait
    /// Send this, and continue reading.
    case send([UInt8])
    /// Check these, and continue with ``SOCKSHandshake/authenticated(_:as:)``.
    case authenticate(BasicCredentials)
    /// Connect, and answer with ``SOCKSHandshake/reply(_:)``.
    case connect(ForwardOrigin)
    /// Send this, and close.
    case refuse([UInt8], Fault)
  }

  /// What is wrong with what a client sends.
  enum Fault: Equatable {
    /// A name and a password are required, and are missing or wrong.
    case credentials
    /// It cannot be understood, or asks for something that is not supported.
    case request
  }

  /// The result of a request, with SOCKS5's numbers (RFC 1928 §6).
  enum Reply: UInt8 {
    case connected = 0
    case failed = 1
    case forbidden = 2
    case unreachableHost = 4
    case refusedConnection = 5
    case unknownCommand = 7
    case unknownAddressType = 8
  }

  private enum State { case greeting, credentials, authenticating, request, over }

  private let wantsUser: Bool
  private var state = State.greeting
  private(set) var version: UInt8 = 5
  /// The user, once the password was found to be right.
  private(set) var user: String?

  /// Creates one for a connection whose first byte is 4 or 5.
  init(wantsUser: Bool) { self.wantsUser = wantsUser }

  /// Reads the next bytes.
  ///
  /// - Parameter bytes: what has come; what was read is removed.
  /// - Returns: what to do.
  mutating func read(_ bytes: inout ArraySlice<UInt8>) -> Step {
    switch state {
    case .greeting: bytes.first == 4 ? readSOCKS4(&bytes) : readGreeting(&bytes)
    case .credentials: readCredentials(&bytes)
    case .request: readRequest(&bytes)
    case .authenticating, .over: .wait
    }
  }

  /// Continues after the credentials were checked.
  ///
  /// - Parameters:
  ///   - isCorrect: whether they are correct.
  ///   - name: the user, if it is not the name in the credentials.
  /// - Returns: what to do.
  mutating func authenticated(_ isCorrect: Bool, as name: String? = nil) -> Step {
    guard state == .authenticating else { return .wait }
    state = isCorrect ? .request : .over
    user = isCorrect ? name ?? user : nil
    return isCorrect ? .send([1, 0]) : .refuse([1, 1], .credentials)
  }

  /// The answer to a request.
  func reply(_ reply: Reply) -> [UInt8] {
    // SOCKS4 has only granted and rejected. The bound address is not sent: clients do not need it, and it reveals
    // something about the network.
    version == 4
      ? [0, reply == .connected ? 90 : 91, 0, 0, 0, 0, 0, 0] : [5, reply.rawValue, 0, 1, 0, 0, 0, 0, 0, 0]
  }

  private mutating func readGreeting(_ bytes: inout ArraySlice<UInt8>) -> Step {
    let read = Array(bytes.prefix(257))
    guard read.count >= 2, read.count >= 2 + Int(read[1]) else { return .wait }
    let methods = read[2..<2 + Int(read[1])]
    bytes = bytes.dropFirst(2 + Int(read[1]))
    let method: UInt8 = wantsUser ? 2 : 0
    guard methods.contains(method) else {
      state = .over
      return .refuse([5, 0xff], wantsUser ? .credentials : .request)
    }
    state = wantsUser ? .credentials : .request
    return .send([5, method])
  }

  private mutating func readCredentials(_ bytes: inout ArraySlice<UInt8>) -> Step {
    let read = Array(bytes.prefix(513))
    guard read.count >= 2, read.count >= 3 + Int(read[1]) else { return .wait }
    let nameEnd = 2 + Int(read[1])
    let end = nameEnd + 1 + Int(read[nameEnd])
    guard read.count >= end else { return .wait }
    bytes = bytes.dropFirst(end)
    guard read[0] == 1 else {
      state = .over
      return .refuse([1, 1], .request)
    }
    state = .authenticating
    let name = String(decoding: read[2..<nameEnd], as: UTF8.self)
    user = name
    return .authenticate(BasicCredentials(name: name, password: read[(nameEnd + 1)..<end]))
  }

  private mutating func readRequest(_ bytes: inout ArraySlice<UInt8>) -> Step {
    let read = Array(bytes.prefix(262))
    guard read.count >= 5 else { return .wait }
    let length: Int
    switch read[3] {
    case 1: length = 4
    case 3: length = 1 + Int(read[4])
    case 4: length = 16
    default:
      state = .over
      return .refuse(reply(.unknownAddressType), .request)
    }
    let end = 4 + length + 2
    guard read.count >= end else { return .wait }
    bytes = bytes.dropFirst(end)
    state = .over
    guard read[0] == 5, read[1] == 1 else { return .refuse(reply(.unknownCommand), .request) }
    let port = UInt16(read[end - 2]) << 8 | UInt16(read[end - 1])
    let host = read[3] == 3 ? Self.name(read[5..<end - 2]) : IPAddress(bytes: read[4..<end - 2]).map { .address($0) }
    return connect(host, port)
  }

  /// `4 1 PORT ADDRESS USER 0`, and `NAME 0` after an address of 0.0.0.x (SOCKS4a); each of at most 255 bytes.
  private mutating func readSOCKS4(_ bytes: inout ArraySlice<UInt8>) -> Step {
    version = 4
    let read = Array(bytes.prefix(8 + 256 + 256))
    guard read.count >= 9 else { return .wait }
    // Limited, so that the same bytes are refused however they are split.
    guard let userEnd = read[8...].prefix(256).firstIndex(of: 0) else {
      return read.count < 8 + 256 ? .wait : tooLong()
    }
    let isName = read[4] == 0 && read[5] == 0 && read[6] == 0 && read[7] != 0
    var end = userEnd
    if isName {
      guard let nameEnd = read[(userEnd + 1)...].prefix(256).firstIndex(of: 0) else {
        return read.count < userEnd + 1 + 256 ? .wait : tooLong()
      }
      end = nameEnd
    }
    bytes = bytes.dropFirst(end + 1)
    state = .over
    guard !wantsUser else { return .refuse(reply(.failed), .credentials) }
    guard read[1] == 1 else { return .refuse(reply(.failed), .request) }
    let port = UInt16(read[2]) << 8 | UInt16(read[3])
    return connect(
      isName ? Self.name(read[(userEnd + 1)..<end]) : IPAddress(bytes: read[4..<8]).map { .address($0) }, port)
  }

  private mutating func tooLong() -> Step {
    state = .over
    return .refuse(reply(.failed), .request)
  }

  private func connect(_ host: WebURL.Host?, _ port: UInt16) -> Step {
    guard let host, port > 0 else { return .refuse(reply(.failed), .request) }
    return .connect(ForwardOrigin(host, port: port))
  }

  private static func name(_ bytes: ArraySlice<UInt8>) -> WebURL.Host? {
    let text = String(decoding: bytes, as: UTF8.self)
    // An IPv6 address may be sent as text without its brackets.
    if let address = IPAddress(text) { return .address(address) }
    return try? WebURL.Host(text)
  }
}
