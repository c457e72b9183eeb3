// SPDX-License-Identifier: Apache-2.0
/// Which names there were: nine to eighteen bytes for each.
///
/// A name's 64-bit hash, of a seed that nobody outside knows, stands for it. A set of the standard library would take more
/// than twice the room, and all of that beside what it had until then whenever it grows.
struct SeenNames: Sendable {
  private var hashes: [UInt64] = Array(repeating: 0, count: 64)
  private(set) var count = 0

  /// Notes a name.
  ///
  /// - Returns: whether it is the first of that hash.
  mutating func insert(_ hash: UInt64) -> Bool {
    let hash = max(hash, 1)  // 0 is a free place
    let place = place(hash)
    guard hashes[place] == 0 else { return false }
    hashes[place] = hash
    count += 1
    if count * 8 > hashes.count * 7 { grow() }
    return true
  }

  /// The place of a hash, or the free one that it would have.
  private func place(_ hash: UInt64) -> Int {
    let mask = hashes.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while hashes[place] != hash, hashes[place] != 0 { place = (place + 1) & mask }
    return place
  }

  private mutating func grow() {
    let old = hashes
    hashes = Array(repeating: 0, count: old.count * 2)
    for hash in old where hash != 0 { hashes[place(hash)] = hash }
  }
}
