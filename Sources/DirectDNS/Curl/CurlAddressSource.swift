// SPDX-License-Identifier: Apache-2.0
/// The source of further addresses for a transfer whose first ones do not connect at once.
protocol CurlAddressSource: AnyObject, Sendable {
  /// Sets what is called with addresses that come later; called before the transfer is started.
  func connect(_ deliver: @escaping @Sendable ([IPAddress]) -> Void)

  /// The addresses, which the policy has not judged yet, if they are known.
  ///
  /// Otherwise starts to look them up, and returns nil; they are delivered later, as an empty list if there are none.
  /// Called by the loop's thread, so it never waits.
  func ask() -> [IPAddress]?
}
