// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSQLite
internal import DirectDNS

/// The file under a database: made, recognised, and set aside.
struct SQLiteFile: Sendable, Hashable {
  private let path: String
  private let device: UInt64
  private let number: UInt64

  /// For one thread at a time.
  private static let making = Locked(())

  /// The file that a path leads to just now; nil if there is none.
  init?(at path: String) {
    let found = unsafe directdns_file(path)
    guard found.exists != 0 else { return nil }
    self.init(path, found)
  }

  private init(_ path: String, _ found: directdns_file_identity) {
    self.path = path
    device = found.device
    number = found.number
  }

  /// The file that a path leads to, new and empty if there was none, and then for its owner's eyes only.
  static func made(at path: String) throws(SQLiteError) -> SQLiteFile {
    // To the system it would end there, and be another file's.
    guard !path.utf8.contains(0) else { throw .unusable("its path has a NUL in it") }
    // To SQLite it is a database in memory, and the writer's another one than the reader's.
    guard path != ":memory:" else { throw .foreign("is no file's path: MemoryAnswerStore keeps answers in memory") }
    // Built to, as Debian's is, SQLite reads it as a URI (https://www.sqlite.org/uri.html), which names another file.
    guard !path.utf8.starts(with: "file:".utf8) else { throw .foreign("is a URI, and no file's path") }
    // Whether that worked shows when the file is made: a folder may be there, and its parent closed.
    var unmade: (path: String, status: Int32)?
    for index in path.indices where path[index] == "/" && index != path.startIndex {
      let folder = String(path[..<index])
      let status = unsafe directdns_make_folder(folder)
      if status != 0, unmade == nil { unmade = (folder, status) }
    }
    let status = making.withLock { _ in
      unsafe directdns_remove_log(path, path + "-wal", path + "-shm")
      return unsafe directdns_create_private(path)
    }
    let found = unsafe directdns_file(path)
    guard status == 0, found.exists != 0 else {
      // That there is no such folder does not say why it could not be made.
      if status == ENOENT, let unmade {
        let reason = unsafe String(cString: directdns_reason(unmade.status))
        throw .unusable("its folder \(DirectDNSError.quoted(unmade.path)) cannot be made: \(reason)")
      }
      throw .unusable(
        status == 0 ? "it is a link that leads nowhere" : unsafe String(cString: directdns_reason(status)))
    }
    // As root SQLite would have a device renamed, or written to.
    guard found.is_usable != 0 else { throw .foreign("is not a file that can be a database") }
    return SQLiteFile(path, found)
  }

  /// Whether all that was written stands in the file itself, and nothing else: beside it is neither a log with more,
  /// nor a journal by which what another program had begun is to be undone.
  static func isWhole(_ path: String) -> Bool {
    guard let real = unsafe directdns_real_path(path) else { return false }
    defer { unsafe free(real) }
    let file = unsafe String(cString: real)
    return ["-wal", "-journal"].allSatisfy { unsafe directdns_is_empty(file + $0) != 0 }
  }

  /// Keeps a damaged file beside the new one, for whoever wants to know, and never in place of an older one.
  ///
  /// - Returns: where it is now; nil if the path leads to another file by now: another process was faster.
  /// - Throws: `stuck` if it cannot be done, or there are too many such files already.
  func setAside() throws(SQLiteError) -> String? {
    guard let real = unsafe directdns_real_path(path) else { return nil }
    defer { unsafe free(real) }
    let path = unsafe String(cString: real)
    let damaged = directdns_file_identity(exists: 1, is_usable: 1, device: device, number: number)
    switch unsafe directdns_set_aside(path, path + "-wal", path + "-shm", damaged) {
    case -1: return nil
    case 0: throw .stuck
    case 1: return path + ".damaged"
    case let number: return path + ".damaged-\(number)"
    }
  }
}
