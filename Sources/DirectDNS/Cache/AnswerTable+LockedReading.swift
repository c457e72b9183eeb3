// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Reading under the lock of the writers: nothing changes meanwhile.
extension AnswerTable {
  /// The index entry of a name, and its position; nil if there is none.
  func find(_ name: HostName) -> (position: UInt64, place: UInt32)? {
    unsafe name.text.utf8.withContiguousStorageIfAvailable { bytes in
      let key = unsafe NameBytes(bytes, isFolded: false)
      var position = name.hash & indexMask
      while true {
        let place = unsafe index[Int(position)].load(ordering: .acquiring)
        if place == 0 { return nil }
        if fingerprint(of: place) == fingerprint(name.hash), unsafe reading(record(place), key) != nil {
          return (position, place)
        }
        position = (position + 1) & indexMask
      }
    } ?? nil
  }

  private func words(of record: UnsafeMutablePointer<Word>, size: Int) -> RecordWords {
    RecordWords(words: (0..<size).map { unsafe record[$0].load(ordering: .relaxed) })
  }

  /// The hash of the name in a record.
  func hash(of record: UnsafeMutablePointer<Word>) -> UInt64 {
    let count = RecordShape(unsafe record[Field.shape].load(ordering: .relaxed)).nameLength
    return NameHash.hash(count) { place in unsafe record[Field.payload + place].load(ordering: .relaxed) }
  }

  /// What is known about a name.
  func value(_ name: HostName) -> CachedName? {
    guard let found = find(name), let record = unsafe record(found.place) else { return nil }
    return unsafe words(of: record, size: Self.sizes[size(of: found.place)]).value
  }

  /// Calls `body` with each record among so many, beginning at a position of the index, until it returns false.
  ///
  /// With `skipsKeptAlive` names that are kept alive are passed over: of those, which may be nearly all, only a word is
  /// read.
  func visit(
    from start: UInt64 = 0, among limit: Int = .max, skipsKeptAlive: Bool = false,
    _ body: (RecordWords) -> Bool
  ) {
    var looked = 0
    for offset in 0...indexMask {
      let place = unsafe index[Int((start &+ offset) & indexMask)].load(ordering: .acquiring)
      guard place != 0, let record = unsafe record(place) else { continue }
      guard looked < limit else { return }
      looked += 1
      if skipsKeptAlive, RecordShape(unsafe record[Field.shape].load(ordering: .relaxed)).isKeptAlive { continue }
      guard unsafe body(words(of: record, size: Self.sizes[size(of: place)])) else { return }
    }
  }
}
