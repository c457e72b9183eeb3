// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import HTTPTypes

/// The verbs of the codecs.
let dnsVerbs: [String: Verb] = [
  "dns.encode": { input in
    let name = try HostName(text(input, "name"))
    guard let type = DNSRecordType(try text(input, "type")) else { throw MissingField(name: "type") }
    var message = DNSMessage(questions: [DNSQuestion(name: DNSName(name), type: type)])
    message.id = UInt16(input["id"] as? Int ?? 0)
    message.recursionDesired = input["rd"] as? Bool ?? true
    if input["edns"] as? Bool == true { message.edns = DNSMessage.EDNS() }
    return ["base64url": Base64.urlEncoded(message.encoded())]
  },
  "dns.decode": { input in
    let bytes = try wire(input)
    guard let asked = try question(input) else {
      let message = try DNSMessage(decoding: bytes)
      let addresses = message.answers.compactMap { record -> String? in
        if case .address(let address) = record.data { address.description } else { nil }
      }
      return ["ok": true, "rcode": Int(message.responseCode.rawValue), "addresses": addresses]
    }
    let message = try DNSMessage.response(decoding: bytes, to: asked, id: id(input))
    let code = message.responseCode
    guard code == .noError || code == .nameError else {
      return ["ok": true, "rcode": Int(code.rawValue), "addresses": []]
    }
    let answer = try DNSMessage.answer(from: bytes, to: asked, id: id(input), freshness: HTTPFreshness())
    return result(answer, code: code)
  },
  "dns.name_decode": { input in
    let message = try DNSMessage(decoding: wire(input))
    return ["ok": true, "name": message.questions.first?.name.description ?? ""]
  },
  "dnsjson.decode": { input in
    guard let asked = try question(input) else { throw MissingField(name: "question") }
    let body = Array(try text(input, "body").utf8)
    do {
      guard let addresses = AddressQuestion(asked) else {
        // What is no question for addresses has a reader of its own.
        let provider = JSONProvider(name: "json", url: try WebURL("https://json.test/"))
        let reply = HTTPReply(status: .ok, contentType: "application/json", body: body)
        let answer = try provider.records(from: reply, to: asked)
        return ["ok": true, "rcode": answer.isNameMissing ? 3 : 0, "addresses": [String]()]
      }
      let answer = try DNSJSON.answer(from: body, to: addresses)
      return result(answer, code: answer.content == .negative(.nameNotFound) ? .nameError : .noError)
    } catch let failure as ProviderFailure where failure.kind == .response {
      // The provider answered, with an error: only its code is of interest here.
      let status = try JSONSerialization.jsonObject(with: Data(body)) as? JSONObject
      // One that was cut off has none to tell.
      if status?["TC"] as? Bool == true { throw failure }
      return ["ok": true, "rcode": status?["Status"] as? Int ?? -1, "addresses": []]
    }
  },
  "doh.freshness": { input in
    let ttls = input["answer_ttls"] as? [Int] ?? []
    guard let ttl = ttls.min() ?? input["soa_minimum"] as? Int else { throw MissingField(name: "answer_ttls") }
    let freshness = HTTPFreshness(
      age: (input["age"] as? Int).map(String.init), cacheControl: input["cache_control"] as? String)
    return ["effective_ttl": Int(freshness.lifetime(UInt32(ttl)))]
  },
]

private func wire(_ input: JSONObject) throws -> [UInt8] {
  guard let data = Data(base64Encoded: try text(input, "wire_b64")) else { throw MissingField(name: "wire_b64") }
  return Array(data)
}

private func question(_ input: JSONObject) throws -> DNSQuestion? {
  guard let question = input["question"] as? JSONObject else { return nil }
  let name = try HostName(text(question, "name"))
  return DNSQuestion(name: DNSName(name), type: DNSRecordType(rawValue: UInt16(question["type"] as? Int ?? 1)))
}

private func id(_ input: JSONObject) -> UInt16 {
  UInt16((input["question"] as? JSONObject)?["id"] as? Int ?? 0)
}

private func result(_ answer: Answer, code: DNSMessage.ResponseCode) -> JSONObject {
  var result: JSONObject = [
    "ok": true, "rcode": Int(code.rawValue), "addresses": answer.addresses.map(\.description),
  ]
  let key = answer.addresses.isEmpty ? "negative_ttl" : "ttl"
  if let ttl = answer.ttl { result[key] = Int(ttl) }
  if let name = answer.canonicalName { result["canonical"] = name.text }
  return result
}
