// SPDX-License-Identifier: Apache-2.0
/// Rows of text with aligned columns; the last column is not padded.
struct ColumnTable: Sendable {
  private var rows: [[TableCell]] = []

  mutating func add(_ row: [TableCell]) { rows.append(row) }

  var text: String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0[column].text.columns }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, cell in
        guard column < row.count - 1 else { return cell.shown }
        return cell.shown + String(repeating: " ", count: widths[column] - cell.text.columns + 2)
      }.joined() + "\n"
    }.joined()
  }

  /// The same without the blanks that empty last columns leave.
  var trimmedText: String {
    text.split(separator: "\n").map { line in
      var line = String(line)
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
