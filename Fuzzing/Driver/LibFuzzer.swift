// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The target that `DIRECTDNS_FUZZ_TARGET` names: one program has them all, since each would link the same library.
private let target: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["DIRECTDNS_FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget.named(name) else {
    fatalError(
      "DIRECTDNS_FUZZ_TARGET is \"\(name)\": name one of \(FuzzTarget.all.map { $0.name }.joined(separator: " "))")
  }
  return target
}()

/// What libFuzzer calls with each input; a trap is what it takes for a finding.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe UnsafeBufferPointer(start: bytes, count: count).map { $0 }
  do throws(BrokenRule) { try target.check(input) } catch { fatalError("\(target.name): \(error)") }
  return 0
}
