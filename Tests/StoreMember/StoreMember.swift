// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import DirectDNSSQLite

/// A process that shares a store with others: what tests start several of, and kill.
///
///     StoreMember write PATH WHO COUNT        writes so many answers to a file, one call each
///     StoreMember hold URL HOST               takes the lease on a name, says so, and never gives it back
///     StoreMember serve NAMES TTL             is a provider until its input ends, and says how often it was asked
///     StoreMember look URL PROVIDER NAMES SECONDS RATE ahead|late
///                                             looks names up for so long, and says what came of it
@main
struct StoreMember {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("write", 4):
      try await write(arguments[1], arguments[2], Int(arguments[3]) ?? 0)
    case ("hold", 3):
      try await hold(arguments[1], try HostName(arguments[2]))
    case ("serve", 3): try await FleetProvider.run(names: Int(arguments[1]) ?? 0, ttl: UInt32(arguments[2]) ?? 0)
    case ("look", 7):
      try await FleetMember(
        url: arguments[1], provider: arguments[2], names: Int(arguments[3]) ?? 0,
        seconds: Double(arguments[4]) ?? 0, rate: Double(arguments[5]) ?? 0, refreshesAhead: arguments[6] == "ahead"
      ).run()
    default: print("usage: StoreMember write PATH WHO COUNT | hold URL HOST | serve … | look …")
    }
  }

  private static func write(_ path: String, _ who: String, _ count: Int) async throws {
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path, busyTimeout: .seconds(10)))
    let now = SystemClock().wallNow
    for number in 0..<count {
      let question = AddressQuestion(try HostName("\(who)-\(number).example.net"), .ipv4)
      try await store.write([
        StoredAnswer(
          question, .addresses([.ipv4(UInt32(number))]), provider: who, asked: now, expires: now + .seconds(300),
          gone: now + .seconds(3000))
      ])
    }
    try FileOutput.say("written")
  }

  private static func hold(_ url: String, _ host: HostName) async throws {
    let store = RedisAnswerStore(try RedisStoreConfiguration(url: url))
    let isTaken = try await store.takeLease(on: AddressQuestion(host, .ipv4), holder: "member", for: .seconds(6))
    // Standard output is a pipe here, and print would keep the line to itself for a while.
    try FileOutput.say(isTaken ? "held" : "not held")
    try await Task.sleep(for: .seconds(60))
  }
}
