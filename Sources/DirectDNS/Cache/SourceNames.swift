// SPDX-License-Identifier: Apache-2.0
/// The sources of answers, to which entries of the cache refer by codes: a list that only grows, and is read without a
/// lock.
///
/// A provider's name keeps its code for good, since its answers may outlive the provider's place in the configuration.
/// A name is added before any entry has its code, so that whoever reads the entry also sees the name.
@safe final class SourceNames: @unchecked Sendable {
  // Safe to share: a name is written once, under the lock, before anybody has its code.

  /// The number of codes that a record of the table has room for.
  static let limit = 256
  /// The number of codes that are left for providers.
  static let providerLimit = limit - 2
  /// The code of the system's DNS.
  static let system: UInt16 = 0
  /// The code of the store.
  static let store: UInt16 = 1

  private let names: UnsafeMutablePointer<Resolution.Source>
  private let codes = Locked<[String: UInt16]>([:])

  init() {
    unsafe names = .allocate(capacity: Self.limit)
    unsafe names.initialize(repeating: .system, count: Self.limit)
    unsafe names[Int(Self.store)] = .store
  }

  deinit {
    unsafe names.deinitialize(count: Self.limit)
    unsafe names.deallocate()
  }

  /// The source that a code stands for.
  @inline(__always)
  subscript(code: Int) -> Resolution.Source { unsafe names[code & (Self.limit - 1)] }

  /// The code of a provider's name, which is a new one if it has none yet; nil if no code is left.
  func code(ofProvider name: String) -> UInt16? {
    codes.withLock { codes in
      if let code = codes[name] { return code }
      let code = codes.count + Int(Self.store) + 1
      guard code < Self.limit else { return nil }
      unsafe names[code] = .provider(name)
      codes[name] = UInt16(code)
      return UInt16(code)
    }
  }
}
