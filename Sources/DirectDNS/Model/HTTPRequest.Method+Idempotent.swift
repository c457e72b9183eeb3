// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

extension HTTPRequest.Method {
  /// Whether the method is idempotent (RFC 9110 §9.2.2).
  package var isIdempotent: Bool {
    switch self {
    case .get, .head, .options, .trace, .put, .delete: true
    default: false
    }
  }
}
