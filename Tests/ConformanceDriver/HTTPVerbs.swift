// SPDX-License-Identifier: Apache-2.0
import DirectDNSProxy
import Foundation

/// The verbs of the proxy's parser of HTTP/1.
let httpVerbs: [String: Verb] = [
  "http1.parse": { input in
    guard let bytes = Data(base64Encoded: try text(input, "wire_b64")) else { throw MissingField(name: "wire_b64") }
    do {
      return ["valid": true, "messages": try messages([UInt8](bytes), isResponse: text(input, "kind") == "response")]
    } catch let fault as MessageFault {
      return ["valid": false, "reason": "\(fault)"]
    }
  }
]

/// How many messages there are, the last of which may not be whole.
private func messages(_ bytes: [UInt8], isResponse: Bool) throws -> Int {
  var rest = bytes[...]
  var count = 0
  var isLast = false
  while !rest.isEmpty {
    // Empty lines before a message (RFC 9112 §2.2).
    if rest.starts(with: [0x0d, 0x0a]) {
      rest = rest.dropFirst(2)
      continue
    }
    guard !isLast else { throw MessageFault.malformed("there is more behind the last message") }
    count += 1
    guard let head = try head(&rest, isResponse: isResponse) else { return count }
    isLast = !head.keepsConnection
    switch try framing(head) {
    case .none: break
    case .length(let length): rest = rest.dropFirst(length)
    case .untilClose: return count
    case .chunked:
      var body = ChunkedBody(isResponse ? .response : .request)
      var pieces: [ChunkedBody.Piece] = []
      rest = rest.dropFirst(try body.read(Array(rest).span, into: &pieces))
    }
  }
  return count
}

/// The next head; nil for one without an end, which is read as if that came.
private func head(_ rest: inout ArraySlice<UInt8>, isResponse: Bool) throws -> MessageHead? {
  let kind: HeadParser.Kind = isResponse ? .response : .request
  switch try HeadParser.end(in: Array(rest).span) {
  case .at(let count):
    defer { rest = rest.dropFirst(count) }
    return try HeadParser.parse(Array(rest.prefix(count)), kind)
  case .missing:
    var bytes = Array(rest)
    if bytes.last == 0x0d { bytes.removeLast() }
    bytes += bytes.suffix(2) == [0x0d, 0x0a] ? [0x0d, 0x0a] : [0x0d, 0x0a, 0x0d, 0x0a]
    _ = try framing(HeadParser.parse(bytes, kind))
    return nil
  }
}

private func framing(_ head: MessageHead) throws -> BodyFraming {
  switch head.start {
  case .request: try BodyFraming.of(request: head)
  case .response(let status, _): try BodyFraming.of(response: head, status: status, isToHEAD: false)
  }
}
