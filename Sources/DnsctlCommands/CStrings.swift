// SPDX-License-Identifier: Apache-2.0
/// Words in the form of C's `argv` and `environ`: bytes that end with 0, and a null pointer after the last word.
package struct CStrings {
  private let words: [[CChar]]

  package init(_ words: [[UInt8]]) { self.words = words.map { $0.map { CChar(truncatingIfNeeded: $0) } + [0] } }

  /// Calls the body with the pointers, which are valid until it returns.
  package func withPointers<Result>(_ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
    // Not by strdup(3): what it has no memory for would be taken for the end of the words.
    var pointers = unsafe [UnsafeMutablePointer<CChar>?]()
    for (place, word) in words.enumerated() {
      unsafe pointers.append(UnsafeMutablePointer<CChar>.allocate(capacity: word.count))
      unsafe pointers[place]?.initialize(from: word, count: word.count)
    }
    defer { unsafe pointers.forEach { unsafe $0?.deallocate() } }
    unsafe pointers.append(nil)
    return unsafe body(pointers)
  }
}
