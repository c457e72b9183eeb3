// SPDX-License-Identifier: Apache-2.0
/// What the source codes of the cache's entries stand for: a list that grows and never changes, read without a lock.
///
/// Providers come and go while a resolver runs, and answers outlive them: a name keeps its code for good. A code is in
/// an entry only after its name is here, and whoever reads the entry therefore sees the name.
@safe final class SourceNames: @unchecked Sendable {
  // Safe to share: names are written once, under the lock, before anybody has their code.

  /// As many codes as a record of the table has room for.
  static let limit = 256
  /// As many as are left for providers.
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

  /// The code of a provider's name, a new one if it has none yet; nil if there is none left.
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
