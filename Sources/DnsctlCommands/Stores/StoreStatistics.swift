// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// How much a store holds, counted answer by answer: a value.
struct StoreStatistics: Sendable {
  private(set) var answers = 0
  private(set) var families: [IPAddress.Family: Int] = [:]
  private(set) var freshness: [FreshnessOption: Int] = [:]
  private(set) var negative = 0
  private(set) var providers: [String: Int] = [:]
  private(set) var oldest: WallInstant?
  private(set) var newest: WallInstant?
  /// The bytes of the answers' lines, without the overhead of a file or a server.
  private(set) var lineBytes = 0

  mutating func add(_ row: StoredRow) {
    let answer = row.answer
    answers += 1
    families[answer.question.family, default: 0] += 1
    freshness[row.freshness, default: 0] += 1
    if case .negative = answer.content { negative += 1 }
    providers[answer.provider, default: 0] += 1
    oldest = min(oldest ?? answer.asked, answer.asked)
    newest = max(newest ?? answer.asked, answer.asked)
    lineBytes += answer.text.utf8.count
  }

  /// The providers, those with the most answers first.
  private var providersByCount: [(key: String, value: Int)] {
    providers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
  }

  func text(_ store: OpenStore) -> String {
    var table = ColumnTable()
    func add(_ name: String, _ value: String) { table.add([.init(name), .init(value)]) }
    func counts(_ pairs: [(String, Int)]) -> String { pairs.map { "\($0) \($1)" }.joined(separator: ", ") }
    add("store", store.description)
    add("answers", "\(answers)")
    add("families", counts(IPAddress.Family.allCases.map { ("\(DNSRecordType($0))", families[$0] ?? 0) }))
    add("freshness", counts(FreshnessOption.allCases.map { ($0.rawValue, freshness[$0] ?? 0) }))
    add("negative", "\(negative)")
    if !providers.isEmpty { add("sources", counts(providersByCount.map { ($0.key, $0.value) })) }
    for (name, instant) in [("oldest", oldest), ("newest", newest)] {
      guard let instant else { continue }
      add(name, "\(instant.text) (\(max(store.now - instant, .zero).rough) ago)")
    }
    add("lines", ByteCount.text(Int64(lineBytes)))
    if let bytes = store.fileBytes { add("file", ByteCount.text(bytes)) }
    return table.text
  }

  func json(_ store: OpenStore) -> JSONLine {
    func object(_ pairs: [(String, Int)]) -> String {
      "{" + pairs.map { "\(JSONLine.string($0)):\($1)" }.joined(separator: ",") + "}"
    }
    var line = JSONLine()
    line.add("store", JSONLine.string(store.name))
    line.add("path", store.path.map(JSONLine.string))
    line.add("answers", "\(answers)")
    line.add("families", object(IPAddress.Family.allCases.map { ("\(DNSRecordType($0))", families[$0] ?? 0) }))
    line.add("freshness", object(FreshnessOption.allCases.map { ($0.rawValue, freshness[$0] ?? 0) }))
    line.add("negative", "\(negative)")
    line.add("sources", object(providersByCount.map { ($0.key, $0.value) }))
    line.add("oldest", oldest.map { "\($0.milliseconds)" })
    line.add("newest", newest.map { "\($0.milliseconds)" })
    line.add("lineBytes", "\(lineBytes)")
    line.add("fileBytes", store.fileBytes.map { "\($0)" })
    return line
  }
}

extension OpenStore {
  /// Its kind and its path.
  var description: String { path.map { "\(name) \($0.printable)" } ?? name }

  /// The bytes of the file and of its log; nil if there is none.
  var fileBytes: Int64? { path.flatMap(databaseLength) }
}
