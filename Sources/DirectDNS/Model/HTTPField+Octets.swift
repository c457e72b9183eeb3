// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

extension [UInt8] {
  /// Adds the octets of a field's value, which need not be UTF-8 (RFC 9110 §5.5): `value` has U+FFFD for those that are not.
  package mutating func append(valueOf field: HTTPField) {
    unsafe field.withUnsafeBytesOfValue { unsafe append(contentsOf: $0) }
  }
}
