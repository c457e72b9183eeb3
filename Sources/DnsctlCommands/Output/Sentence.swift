// SPDX-License-Identifier: Apache-2.0
extension String {
  /// The text with a full stop behind it, unless it has its own end already.
  ///
  /// Errors of the library are sentences where they say what to do, and half ones where others say it.
  package var asSentence: String { last.map { ".!?…".contains($0) } ?? true ? self : self + "." }
}
