// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Words as C's `argv` and `environ` have them: bytes that end with 0, and a null pointer behind the last.
package struct CStrings {
  private let words: [[CChar]]

  package init(_ words: [[UInt8]]) { self.words = words.map { $0.map { CChar(truncatingIfNeeded: $0) } + [0] } }

  /// Lends the pointers, which are good until the body returns.
  package func withPointers<Result>(_ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { word in
      unsafe word.withUnsafeBufferPointer { bytes in unsafe bytes.baseAddress.flatMap { unsafe strdup($0) } }
    }
    defer { unsafe pointers.forEach { unsafe free($0) } }
    unsafe pointers.append(nil)
    return unsafe body(pointers)
  }
}
