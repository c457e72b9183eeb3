// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

extension AddressQuestion {
  /// A question about a name that is one.
  init(_ text: String, _ family: IPAddress.Family = .ipv4) {
    self.init(HostName(canonical: text), family)
  }
}

extension HTTPReply {
  /// A reply of text.
  init(_ text: String, _ type: String? = "application/json", status: Int = 200, fields: HTTPFields = [:]) {
    self.init(Array(text.utf8), type, status: status, fields: fields)
  }

  /// A reply of bytes.
  init(_ body: [UInt8], _ type: String?, status: Int = 200, fields: HTTPFields = [:]) {
    var fields = fields
    fields[.contentType] = type
    self.init(status: .init(code: status), fields: fields, body: body)
  }
}

extension Provider {
  /// What the provider makes of a reply: the answer, or the failure.
  func outcome(of reply: HTTPReply, to question: AddressQuestion) -> Result<Answer, ProviderFailure> {
    do throws(ProviderFailure) {
      return .success(try answer(from: reply, to: question))
    } catch {
      return .failure(error)
    }
  }
}

extension Result<Answer, ProviderFailure> {
  /// `ADDRESS,… TTL` or the negative answer, or `transport`, `response`, `limited` for a failure.
  var summary: String {
    switch self {
    case .success(let answer):
      let ttl = answer.ttl.map { " \($0)" } ?? " -"
      return switch answer.content {
      case .addresses(let addresses): addresses.map(\.description).joined(separator: ",") + ttl
      case .negative(.nameNotFound): "NXDOMAIN" + ttl
      case .negative(.noAddress): "NODATA" + ttl
      }
    case .failure(let failure):
      return switch failure.kind {
      case .transport: "transport"
      case .response: "response"
      case .rateLimited(let after): "limited" + (after.map { " \($0.components.seconds)" } ?? "")
      case .local: "local"
      case .cancelled: "cancelled"
      }
    }
  }
}

extension EMASProvider {
  static let secret = Secret("00112233445566778899aabbccddeeff")

  static func sample(_ path: String, _ credentials: ProviderCredentials = .init(), subnet: String? = nil) throws -> Self
  {
    try EMASProvider(
      name: "sample", url: WebURL("https://192.0.2.1" + path), credentials: credentials,
      clientSubnet: try subnet.map { try #require(IPNetwork($0)) })
  }
}

extension RecordProvider {
  /// What the two readers of a reply make of it: `ADDRESS,…`, the negative answer, or the kind of the failure.
  func readings(of reply: HTTPReply, _ question: AddressQuestion) -> (addresses: String, records: String) {
    let answer = outcome(of: reply, to: question)
    let reading = Result { () throws(ProviderFailure) in
      let found = try self.records(from: reply, to: question.message)
      var addresses: [IPAddress] = []
      for record in found.records {
        if case .address(let address) = record.data { addresses.keep(address) }
      }
      return addresses.isEmpty
        ? Answer(.negative(found.isNameMissing ? .nameNotFound : .noAddress), ttl: nil)
        : Answer(.addresses(addresses), ttl: 0)
    }
    return (answer.summaryWithoutTTL, reading.summaryWithoutTTL)
  }
}

extension Result<Answer, ProviderFailure> {
  fileprivate var summaryWithoutTTL: String { summary.split(separator: " ").first.map(String.init) ?? "" }
}
