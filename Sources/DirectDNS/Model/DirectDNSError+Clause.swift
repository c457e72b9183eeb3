// SPDX-License-Identifier: Apache-2.0
extension DirectDNSError {
  /// The message as a part of another sentence.
  package var clause: String { Self.clause(of: message) }

  /// A sentence as a part of another one: without the period at its end, and with its first word in lower case.
  ///
  /// A first word that keeps its case there stays as it is: a name, a value, a field or an abbreviation.
  package static func clause(of sentence: String) -> String {
    let text = sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]
    let word = text.prefix { $0 != " " }
    return plainWords.contains(word) ? word.lowercased() + text.dropFirst(word.count) : String(text)
  }

  /// A text with a period, unless it ends like a sentence already: other libraries' words at its end may do so.
  package static func sentence(_ text: String) -> String {
    text.last.map { ".!?…".contains($0) } ?? true ? text : text + "."
  }

  /// The words that begin messages and have a capital letter for no other reason.
  private static let plainWords: Set<Substring> = ["A", "An", "Line", "No", "The", "There", "This"]
}
