internal import CDirectDNSSQLite
internal import DirectDNS

/// One open connection to the file, for one thread at a time.
@safe final class SQLiteDatabase {
  private let connection: SQLiteConnection
  private let select: SQLiteStatement
  private let upsert: SQLiteStatement
  private let delete: SQLiteStatement
  private let page: SQLiteStatement
  private let prune: SQLiteStatement

  /// Opens the file, makes it if there is none, and brings it up to date.
  init(_ configuration: SQLiteStoreConfiguration, steps: [String] = SQLiteSchema.steps) throws(SQLiteError) {
    connection = try SQLiteConnection.open(configuration)
    try connection.migrate(steps)
    select = try connection.prepare("SELECT line FROM answers WHERE host = ?1 AND family = ?2")
    upsert = try connection.prepare(
      """
      INSERT INTO answers (host, family, gone, line) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT DO UPDATE SET gone = excluded.gone, line = excluded.line
      """)
    delete = try connection.prepare("DELETE FROM answers WHERE host = ?1 AND family = ?2")
    page = try connection.prepare(
      """
      SELECT host, family, line FROM answers WHERE (host, family) > (?1, ?2) ORDER BY host, family LIMIT ?3
      """)
    prune = try connection.prepare(
      """
      DELETE FROM answers WHERE (host, family) IN
        (SELECT host, family FROM answers ORDER BY gone LIMIT max(1, (SELECT count(*) FROM answers) / 8))
      """)
  }

  func read(_ questions: [AddressQuestion]) throws(SQLiteError) -> [StoredAnswer] {
    var answers: [StoredAnswer] = []
    for question in questions {
      try select.run(question.key) { row in
        if let answer = StoredAnswer(text: row.text(0), to: question) { answers.append(answer) }
      }
    }
    return answers
  }

  func write(_ answers: [StoredAnswer], maximumBytes: Int) throws(SQLiteError) {
    try connection.transaction { () throws(SQLiteError) in
      for answer in answers {
        try upsert.run(answer.question.key + [.integer(answer.gone.milliseconds), .text(answer.text)])
      }
    }
    // An eighth at once; a bound below the size of an empty file must not keep this going.
    for _ in 0..<8 {
      guard try connection.usedBytes() > maximumBytes else { return }
      try prune.run()
    }
  }

  func remove(_ questions: [AddressQuestion]) throws(SQLiteError) {
    try connection.transaction { () throws(SQLiteError) in
      for question in questions { try delete.run(question.key) }
    }
  }

  func removeAll() throws(SQLiteError) { try connection.execute("DELETE FROM answers") }

  /// The next answers in the order of questions, and the question to go on from; without one that was all.
  func page(
    after last: AddressQuestion?, _ count: Int
  ) throws(SQLiteError) -> (answers: [StoredAnswer], last: AddressQuestion?) {
    var answers: [StoredAnswer] = []
    var seen = 0
    var next: AddressQuestion?
    try page.run((last?.key ?? [.text(""), .integer(0)]) + [.integer(Int64(count))]) { row in
      seen += 1
      guard let host = try? HostName(row.text(0)) else { return }
      let question = AddressQuestion(host, row.integer(1) == 6 ? .ipv6 : .ipv4)
      next = question
      if let answer = StoredAnswer(text: row.text(2), to: question) { answers.append(answer) }
    }
    return (answers, seen == count ? next : nil)
  }
}

extension AddressQuestion {
  fileprivate var key: [SQLiteStatement.Value] { [.text(host.text), .integer(family == .ipv4 ? 4 : 6)] }
}
