// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The curl program as a client that shares no code with the library.
enum Curl {
  enum Method: CaseIterable {
    case get
    case post
  }

  enum RecordType: UInt8 {
    case a = 1
    case aaaa = 28
  }

  struct Reply: Equatable {
    var responseCode: Int
    var addresses: [String]
  }

  private struct JSONReply: Decodable {
    struct Record: Decodable {
      var data: String
    }

    enum CodingKeys: String, CodingKey {
      case status = "Status"
      case answer = "Answer"
    }

    var status: Int
    var answer: [Record]?
  }

  /// curl's exit status, where it was not 0.
  struct Failure: Error, Equatable {
    var status: Int32
  }

  static let refused: Int32 = 7
  static let httpError: Int32 = 22
  static let timedOut: Int32 = 28

  /// Asks a server for the addresses of a name by RFC 8484.
  @discardableResult
  static func ask(
    _ server: some DoHServer, _ name: String, _ type: RecordType, by method: Method = .get,
    within seconds: Double = 10
  ) async throws -> Reply {
    let query = query(name, type)
    switch method {
    case .get:
      let parameter = query.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
      return try parse(await fetch(server, ["\(server.dohURL)?dns=\(parameter)"], within: seconds))
    case .post:
      let file = try ServerFixture.newFolder("query").appending(path: "query")
      try query.write(to: file)
      let options = [
        "-H", "content-type: application/dns-message", "--data-binary", "@\(file.path)", server.dohURL,
      ]
      return try parse(await fetch(server, options, within: seconds))
    }
  }

  /// Asks a server by its JSON interface; the addresses are the `data` of every record.
  @discardableResult
  static func json(_ server: some RealServer, _ url: String, within seconds: Double = 10) async throws
    -> Reply
  {
    let body = try JSONDecoder().decode(JSONReply.self, from: await fetch(server, [url], within: seconds))
    return Reply(responseCode: body.status, addresses: (body.answer ?? []).map(\.data))
  }

  private static func fetch(_ server: some RealServer, _ options: [String], within seconds: Double)
    async throws -> Data
  {
    let common = [
      "--silent", "--fail", "--noproxy", "*", "--http2", "--max-time", "\(seconds)", "--cacert",
      server.caFile,
      "--resolve", "\(server.host):\(server.port):127.0.0.1",
    ]
    let (status, output) = try await ServerFixture.run("curl", common + options)
    guard status == 0 else { throw Failure(status: status) }
    return output
  }

  private static func query(_ name: String, _ type: RecordType) -> Data {
    var message = Data([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    for label in name.split(separator: ".") {
      message.append(UInt8(label.utf8.count))
      message.append(contentsOf: label.utf8)
    }
    message.append(contentsOf: [0, 0, type.rawValue, 0, 1])
    return message
  }

  /// The response code and the address records of the answer section of a reply that is taken on trust.
  private static func parse(_ data: Data) throws -> Reply {
    let bytes = [UInt8](data)
    func word(_ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }
    func end(ofNameAt start: Int) -> Int {
      var at = start
      while bytes[at] != 0 {
        if bytes[at] >= 0xc0 { return at + 2 }
        at += 1 + Int(bytes[at])
      }
      return at + 1
    }
    guard bytes.count > 12 else { throw ServerFixture.Failure("a reply of \(bytes.count) bytes") }
    var at = end(ofNameAt: 12) + 4
    var addresses: [String] = []
    for _ in 0..<word(6) {
      at = end(ofNameAt: at)
      let (type, length) = (word(at), word(at + 8))
      at += 10
      if type == 1 { addresses.append(bytes[at..<at + 4].map(String.init).joined(separator: ".")) }
      if type == 28 {
        let groups = stride(from: at, to: at + 16, by: 2).map { String(word($0), radix: 16) }
        addresses.append(groups.joined(separator: ":"))
      }
      at += length
    }
    return Reply(responseCode: Int(bytes[3] & 15), addresses: addresses)
  }
}
