// SPDX-License-Identifier: Apache-2.0
/// A table that fits a terminal's width: text that is too long is cut, and columns without room are left out.
struct FittedTable: Sendable {
  /// The properties of a column.
  struct Column: Sendable {
    var title: String
    /// The width that it may be cut to; nil if it cannot be cut.
    var minimum: Int?
    var isNumeric = false
    /// Columns of the highest rank are left out first.
    var rank = 0
  }

  var columns: [Column]
  var rows: [[TableCell]] = []

  private static let gap = 2

  /// The lines, beginning with the titles; none is wider than `width`.
  func lines(width: Int, title: (String) -> String = { $0 }) -> [String] {
    let (shown, widths) = layout(width)
    let head = title(line(columns.map { TableCell($0.title) }, shown, widths))
    return [head] + rows.map { line($0, shown, widths) }
  }

  /// Which columns are shown, and how wide each is.
  private func layout(_ width: Int) -> (shown: [Int], widths: [Int]) {
    let ideal = columns.indices.map { index in
      max(columns[index].title.columns, rows.map { $0[index].text.columns }.max() ?? 0)
    }
    let least = columns.indices.map { min(ideal[$0], columns[$0].minimum ?? ideal[$0]) }
    var shown = Array(columns.indices)
    func room(_ widths: [Int]) -> Int { width - shown.reduce(0) { $0 + widths[$1] } - Self.gap * (shown.count - 1) }
    while shown.count > 1, room(least) < 0, let last = shown.max(by: { columns[$0].rank < columns[$1].rank }) {
      shown.removeAll { $0 == last }
    }
    var widths = least
    var left = room(least)
    // The remaining room goes to the cut columns, from the left.
    for index in shown where left > 0 {
      let more = min(left, ideal[index] - widths[index])
      widths[index] += more
      left -= more
    }
    if let only = shown.first, shown.count == 1 { widths[only] = min(widths[only], max(1, width)) }
    return (shown, widths)
  }

  private func line(_ cells: [TableCell], _ shown: [Int], _ widths: [Int]) -> String {
    var text = ""
    for (place, index) in shown.enumerated() {
      let cut = cells[index].text.cut(to: widths[index])
      let margin = String(repeating: " ", count: widths[index] - cut.columns)
      if place > 0 { text += String(repeating: " ", count: Self.gap) }
      let isLast = place == shown.count - 1
      text +=
        columns[index].isNumeric ? margin + cells[index].paint(cut) : cells[index].paint(cut) + (isLast ? "" : margin)
    }
    while text.last == " " { text.removeLast() }
    return text
  }
}
