/// Rows of text whose columns stand below one another; the last one ends where it ends.
struct ColumnTable: Sendable {
  /// A cell's text, and the same as it is shown: with escape codes, which take no room.
  struct Cell: Sendable, Hashable {
    var text: String
    var shown: String

    init(_ text: String, shown: String? = nil) {
      self.text = text
      self.shown = shown ?? text
    }
  }

  private var rows: [[Cell]] = []

  mutating func add(_ row: [Cell]) { rows.append(row) }

  var text: String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0[column].text.count }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, cell in
        guard column < row.count - 1 else { return cell.shown }
        return cell.shown + String(repeating: " ", count: widths[column] - cell.text.count + 2)
      }.joined() + "\n"
    }.joined()
  }
}
