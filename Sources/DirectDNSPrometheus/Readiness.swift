// SPDX-License-Identifier: Apache-2.0
/// Whether a process can do what it is for, as an endpoint's `/ready` says.
public enum Readiness: Sendable, Hashable {
  /// Work may be sent to it: status 200.
  case ready
  /// Not yet, or not any more, and why: status 503. The reason is one line, for people.
  case notReady(String)
}
