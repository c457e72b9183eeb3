// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation

/// The provider of a fleet under measurement.
enum FleetProvider {
  static func run(names: Int, ttl: UInt32) async throws {
    var records = RecordTable()
    for number in 0..<names { records.add("host-\(number).example.net", "192.0.2.\(number % 256)", ttl: ttl) }
    let server = try await FakeProvider.start(records: records)
    try FileOutput.say("\(server.baseURL)/resolve")
    // Whoever started it closes its input.
    while readLine() != nil {}
    let asked = server.requests.count
    try FileOutput.say("\(asked) queries, \(Double(asked) / Double(max(1, names))) a name")
    await server.stop()
  }
}
