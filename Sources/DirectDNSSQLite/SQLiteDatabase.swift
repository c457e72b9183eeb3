// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSQLite
internal import DirectDNS

/// One open connection to the file, for one thread at a time.
@safe final class SQLiteDatabase {
  let connection: SQLiteConnection
  /// Whether something was written that may stand in the log alone.
  private var hasWritten = false
  private let select: SQLiteStatement
  private let upsert: SQLiteStatement
  private let delete: SQLiteStatement
  private let page: SQLiteStatement
  private let prune: SQLiteStatement

  /// Opens the file, makes it if there is none, and brings it up to date.
  ///
  /// - Parameters:
  ///   - configuration: which file.
  ///   - steps: what stands in it, by version.
  ///   - isImmutable: whether it is only read, as it stands.
  /// - Throws: `damaged` for a file that is known to be ours alone.
  init(
    _ configuration: SQLiteStoreConfiguration, steps: [String] = SQLiteSchema.steps, isImmutable: Bool = false
  ) throws(SQLiteError) {
    connection = try SQLiteConnection.open(configuration, isImmutable: isImmutable)
    if isImmutable { try connection.check(steps) } else { try connection.migrate(steps) }
    select = try connection.prepareOwn("SELECT line FROM answers WHERE host = ?1 AND family = ?2")
    upsert = try connection.prepareOwn(
      """
      INSERT INTO answers (host, family, gone, line) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT DO UPDATE SET gone = excluded.gone, line = excluded.line
      """)
    delete = try connection.prepareOwn("DELETE FROM answers WHERE host = ?1 AND family = ?2")
    page = try connection.prepareOwn(
      """
      SELECT host, family, line FROM answers WHERE (host, family) > (?1, ?2) ORDER BY host, family LIMIT ?3
      """)
    // An eighth, and at most 1024, from both ends of the index: a write must not wait until a large file was read. What
    // a clock far ahead has stamped stands at the other end than what is gone first. The second word of a line is when
    // the answer was asked for; its number ends at the space.
    prune = try connection.prepareOwn(
      """
      WITH few (n) AS (SELECT max(1, count(*) / 8) FROM (SELECT 1 FROM answers LIMIT 8192))
      DELETE FROM answers WHERE (host, family) IN (
        SELECT host, family FROM (
          SELECT * FROM (SELECT host, family, gone, line FROM answers ORDER BY gone LIMIT (SELECT n FROM few))
          UNION
          SELECT * FROM (SELECT host, family, gone, line FROM answers ORDER BY gone DESC LIMIT (SELECT n FROM few))
        ) ORDER BY CAST(substr(line, 3) AS INTEGER) <= ?1, gone LIMIT (SELECT n FROM few)
      ) RETURNING host, family, line
      """)
  }

  /// Whether what failed could not be undone: it keeps others from writing until the connection is closed.
  var hasOpenTransaction: Bool { connection.hasOpenTransaction }

  func read(_ questions: [AddressQuestion]) throws(SQLiteError) -> [StoredAnswer] {
    var answers: [StoredAnswer] = []
    for question in questions {
      try select.run(question.key) { row in
        if let answer = StoredAnswer(text: row.text(0), to: question) { answers.append(answer) }
      }
    }
    return answers
  }

  /// Reads every row, so that damage anywhere among them shows.
  func readAll() throws(SQLiteError) {
    // The index has the number of rows; their text alone is in the table.
    try connection.prepareOwn("SELECT max(length(line)) FROM answers NOT INDEXED").run()
  }

  func write(_ answers: [StoredAnswer]) throws(SQLiteError) {
    try change { () throws(SQLiteError) in
      for answer in answers { try keep(answer) }
    }
  }

  /// Keeps those that are newer than what is known, and says how many.
  func writeNewer(_ answers: [StoredAnswer], at now: WallInstant) throws(SQLiteError) -> Int {
    var kept = 0
    try change { () throws(SQLiteError) in
      for answer in answers {
        if let known = try read([answer.question]).first, !answer.isNewer(than: known, at: now) { continue }
        try keep(answer)
        kept += 1
      }
    }
    return kept
  }

  private func keep(_ answer: StoredAnswer) throws(SQLiteError) {
    try upsert.run(answer.question.key + [.integer(answer.gone.milliseconds), .text(answer.text)])
  }

  /// Lets those go that are gone first, where the file has become too large.
  ///
  /// Those far in the future go before them, or would fill it for ever: a wrong clock has stamped their ends as well.
  ///
  /// - Parameters:
  ///   - maximumBytes: how large it may be.
  ///   - start: which of them count: those that were asked for since then.
  ///   - now: the present.
  /// - Returns: how many of those were let go.
  /// - Throws: what SQLite could not do.
  func keepSize(
    _ maximumBytes: Int, countingSince start: WallInstant, at now: WallInstant
  ) throws(SQLiteError) -> Int {
    let latest = StoredAnswer.latestAsked(at: now)
    var count = 0
    // A bound below the size of an empty file must not keep this going, nor a file that another bound let become far
    // larger.
    for _ in 0..<8 {
      guard try connection.usedBytes() > maximumBytes else { break }
      try prune.run([.integer(latest.milliseconds)]) { row in
        let place = Place(columns: [row.value(0), row.value(1)])
        if let question = place.question, let answer = StoredAnswer(text: row.text(2), to: question),
          answer.asked >= start
        {
          count += 1
        }
      }
    }
    return count
  }

  /// All of it or nothing, and nobody else writes meanwhile.
  private func change(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try connection.transaction(body)
    hasWritten = true
  }

  /// Has what was written stand in the file, where a copy of it has it.
  func checkpoint() throws(SQLiteError) {
    guard hasWritten else { return }
    try connection.checkpoint()
    hasWritten = false
  }

  func remove(_ questions: [AddressQuestion]) throws(SQLiteError) {
    try change { () throws(SQLiteError) in
      for question in questions { try delete.run(question.key) }
    }
  }

  func removeAll() throws(SQLiteError) {
    try change { () throws(SQLiteError) in try connection.execute("DELETE FROM answers") }
  }

  /// A place in the order of what is stored: the columns of the last row that was shown, whatever they hold.
  ///
  /// What others wrote need be no name in its usual form, nor text at all.
  struct Place: Sendable, Hashable {
    let columns: [SQLiteStatement.Value]

    static let beginning = Place(columns: [.text(""), .integer(0)])

    /// The question that finds the row; nil if none does.
    fileprivate var question: AddressQuestion? {
      guard case .bytes(let bytes, isText: true) = columns[0], let text = String(validating: bytes, as: UTF8.self),
        let host = try? HostName(text), host.text == text
      else { return nil }
      return IPAddress.Family.allCases.first { columns[1] == .integer($0.number) }.map { AddressQuestion(host, $0) }
    }
  }

  /// The next answers in the order of the table, and the place to go on from; without one that was all.
  ///
  /// A row is an answer if a question finds it.
  func page(after place: Place, _ count: Int) throws(SQLiteError) -> (answers: [StoredAnswer], next: Place?) {
    var answers: [StoredAnswer] = []
    var seen = 0
    var last = place
    try page.run(place.columns + [.integer(Int64(count))]) { row in
      seen += 1
      last = Place(columns: [row.value(0), row.value(1)])
      guard let question = last.question, let answer = StoredAnswer(text: row.text(2), to: question) else { return }
      answers.append(answer)
    }
    return (answers, seen == count ? last : nil)
  }
}

extension IPAddress.Family {
  fileprivate var number: Int64 { self == .ipv4 ? 4 : 6 }
}

extension AddressQuestion {
  fileprivate var key: [SQLiteStatement.Value] { [.text(host.text), .integer(family.number)] }
}
