// SPDX-License-Identifier: Apache-2.0
extension String {
  /// The text with a full stop, unless it ends like a sentence already.
  ///
  /// Errors of the library are sentences if they say what to do, and otherwise have no full stop.
  package var asSentence: String { last.map { ".!?…".contains($0) } ?? true ? self : self + "." }
}
