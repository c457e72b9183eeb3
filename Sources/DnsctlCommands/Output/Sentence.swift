// SPDX-License-Identifier: Apache-2.0
extension String {
  /// The text with a full stop, unless it ends like a sentence already.
  ///
  /// Messages of the library's errors do. What a program's own error says may not, and that of libcurl or the system.
  package var asSentence: String { last.map { ".!?…".contains($0) } ?? true ? self : self + "." }
}
