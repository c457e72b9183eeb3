// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
public import Foundation

extension ResponseBody {
  /// Reads all that is left, and a value from its JSON.
  ///
  /// ```swift
  /// let rates = try await client.get("https://api.example.com/rates").body.decode([String: Double].self)
  /// ```
  ///
  /// - Parameters:
  ///   - type: what is read.
  ///   - limit: the most bytes to read; default ``/DirectDNS/ResponseBody/textLimit``.
  ///   - decoder: how it is read.
  /// - Returns: the value.
  /// - Throws: `DecodingError` where the bytes are no JSON or hold something else, and what `collect(upTo:)` throws.
  nonisolated(nonsending) public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, upTo limit: Int = textLimit, by decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    try decoder.decode(type, from: Data(try await collect(upTo: limit)))
  }
}

extension RequestBody {
  /// A value as JSON, which can be replayed.
  ///
  /// Its `Content-Type` is `application/json`, unless the request has a field of that name, or
  /// ``/DirectDNS/RequestBody/contentType`` is set to something else.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - encoder: how it is written.
  /// - Returns: the body.
  /// - Throws: `EncodingError` for what JSON cannot hold, such as a number that is none.
  public static func json(_ value: some Encodable, by encoder: JSONEncoder = JSONEncoder()) throws -> RequestBody {
    .bytes(Array(try encoder.encode(value)), contentType: "application/json")
  }
}
