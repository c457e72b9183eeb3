// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Words in the form of C's `argv` and `environ`: bytes that end with 0, and a null pointer after the last word.
package struct CStrings {
  private let words: [[CChar]]

  package init(_ words: [[UInt8]]) { self.words = words.map { $0.map { CChar(truncatingIfNeeded: $0) } + [0] } }

  /// Calls the body with the pointers, which are valid until it returns.
  package func withPointers<Result>(_ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { word in
      unsafe word.withUnsafeBufferPointer { bytes in unsafe bytes.baseAddress.flatMap { unsafe strdup($0) } }
    }
    defer { unsafe pointers.forEach { unsafe free($0) } }
    unsafe pointers.append(nil)
    return unsafe body(pointers)
  }
}
