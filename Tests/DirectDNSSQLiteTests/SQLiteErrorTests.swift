// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSSQLite

struct SQLiteErrorTests {
  /// SQLITE_IOERR and SQLITE_CANTOPEN, which say of themselves nothing of room.
  @Test(arguments: [10, 14] as [Int32], [ENOSPC, EDQUOT])
  func `a disk that is full is one, and so is a user's share of it`(_ code: Int32, _ reason: Int32) {
    let error = SQLiteError(code, "disk I/O error", reason: reason)
    #expect(error == .full && error.isAboutWriting)
    #expect(error.directDNSError("/x").message.contains("has no room: the disk is full, or your share of it"))
  }

  /// SQLITE_NOMEM, SQLITE_IOERR_NOMEM, and SQLITE_IOERR_SHMMAP where mmap(2) says so.
  @Test(arguments: [(7, 0), (10 | 12 << 8, 0), (10 | 21 << 8, ENOMEM)] as [(Int32, Int32)])
  func `want of memory is nothing that the file has to be removed for`(_ code: Int32, _ reason: Int32) {
    let error = SQLiteError(code, "some words", reason: reason)
    #expect(error == .noMemory && !error.isAboutWriting)
    #expect(error.directDNSError("/x").message.contains("want of memory, and stays as it is. Give this process more"))
  }

  /// SQLITE_READONLY and SQLITE_READONLY_DIRECTORY; SQLITE_READONLY_ROLLBACK is about what cannot be read either.
  @Test(arguments: [(8, true), (8 | 6 << 8, true), (8 | 3 << 8, false)] as [(Int32, Bool)])
  func `what may only be read is not said to be closed`(_ code: Int32, _ isReadable: Bool) {
    let error = SQLiteError(code, "attempt to write a readonly database")
    let message = error.directDNSError("/x").message
    #expect(error.isAboutWriting && message.contains("cannot be written to") == isReadable)
    #expect(message.contains("cannot be opened") != isReadable && message.contains("permissions"))
  }

  /// SQLITE_IOERR_SHMMAP, SQLITE_IOERR_READ and SQLITE_PROTOCOL.
  @Test(
    arguments: [
      (10 | 21 << 8, "as on a network file system. Choose another path."), (10 | 1 << 8, "Check its disk."),
      (5, "Find it (lsof, fuser), and end it"), (15, "is being written by another process"),
    ] as [(Int32, String)])
  func `an error says what to do, as far as SQLite knows what is wrong`(_ code: Int32, _ words: String) {
    #expect(SQLiteError(code, "some words").directDNSError("/x").message.contains(words))
  }
}
