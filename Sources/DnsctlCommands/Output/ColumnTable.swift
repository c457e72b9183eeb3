// SPDX-License-Identifier: Apache-2.0
/// Rows of text with aligned columns; a row's last text is not padded.
struct ColumnTable: Sendable {
  private var rows: [[TableCell]] = []

  mutating func add(_ row: [TableCell]) { rows.append(row) }

  var text: String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0[column].text.columns }.max() ?? 0 }
    return rows.map { row in
      let last = row.lastIndex { !$0.text.isEmpty } ?? 0
      return row.prefix(last + 1).enumerated().map { column, cell in
        guard column < last else { return cell.shown }
        return cell.shown + String(repeating: " ", count: widths[column] - cell.text.columns + 2)
      }.joined() + "\n"
    }.joined()
  }
}
