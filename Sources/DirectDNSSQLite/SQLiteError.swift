// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSQLite
internal import DirectDNS

/// Why SQLite did not do what it was told.
///
/// Its codes are mapped here and nowhere else.
enum SQLiteError: Error, Hashable, Sendable {
  /// The database is damaged.
  case damaged
  /// The database is damaged, and cannot be set aside.
  case stuck
  case full
  case noMemory
  case busy
  case unusable(String)
  /// The file or its folder may not be written to by this process; what is in it may be read all the same.
  case readOnly
  /// The file is a database, and not ours or not of this version.
  case foreign(String)
  /// The file may be one of ours whose beginning is damaged, or another program's.
  case unknown(String)
  /// Others may say what is in the file.
  case untrusted(String)
  /// Another file has taken its place in the middle of what needs all of it.
  case replaced
  /// SQLite cannot make sense of a statement, for want of a table perhaps.
  case statement(String)
  case failed(String)

  /// - Parameters:
  ///   - code: SQLite's, an extended one where there is one (https://www.sqlite.org/rescode.html).
  ///   - message: its words for it.
  ///   - reason: the system's number for it (errno), where there was one.
  init(_ code: Int32, _ message: String, reason: Int32 = 0) {
    // A user's share of the disk may be used up before the disk is.
    let isFull = reason == ENOSPC || reason == EDQUOT
    switch code & 0xff {
    case SQLITE_NOMEM: self = .noMemory
    // SQLITE_IOERR_NOMEM; and the index of a log is mapped into memory.
    case SQLITE_IOERR where code >> 8 == 12 || reason == ENOMEM: self = .noMemory
    case SQLITE_IOERR where isFull, SQLITE_CANTOPEN where isFull: self = .full
    // SQLITE_IOERR_SHMMAP
    case SQLITE_IOERR where code >> 8 == 21:
      self = .foreign("lies where its processes cannot share memory, as on a network file system")
    case SQLITE_ERROR: self = .statement(message)
    case SQLITE_CORRUPT: self = .damaged
    case SQLITE_NOTADB: self = .unknown("is not a database")
    case SQLITE_FULL: self = .full
    // The second is what comes of locks that are held while a log is begun.
    case SQLITE_BUSY, SQLITE_PROTOCOL, SQLITE_LOCKED: self = .busy
    // The second is SQLITE_READONLY_DIRECTORY; those between are about a log or a journal that cannot be read either.
    case SQLITE_READONLY where [0, 6].contains(code >> 8): self = .readOnly
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY: self = .unusable(message)
    default: self = .failed(message)
    }
  }

  /// Whether the file might still be read: on a disk that is full, or may not be written.
  var isAboutWriting: Bool {
    switch self {
    case .full, .unusable, .readOnly: true
    case .damaged, .stuck, .noMemory, .busy, .foreign, .unknown, .untrusted, .replaced, .statement, .failed: false
    }
  }

  /// Whether a second look may find otherwise: a page that could not be read for once looks like damage to SQLite, and
  /// another program may have changed the table since the file was opened.
  var deservesSecondLook: Bool {
    if case .statement = self { true } else { self == .damaged }
  }

  func directDNSError(_ path: String) -> DirectDNSError {
    let file = "The store \(DirectDNSError.quoted(path))"
    let message =
      switch self {
      case .damaged:
        "\(file) is damaged, and reading leaves it as it is. The next answer that is stored sets it aside and begins a new one, and so does dnsctl cache clear --yes of that store."
      case .stuck: "\(file) is damaged and could not be set aside. Remove it, or the damaged ones beside it."
      case .full: "\(file) has no room: the disk is full, or your share of it. Make some, or choose another path."
      case .noMemory:
        "\(file) cannot be used for want of memory, and stays as it is. Give this process more (ulimit -v, or the limit of its container)."
      case .busy:
        "\(file) is being written by another process that does not finish. Find it (lsof, fuser), and end it if it hangs."
      case .unusable(let reason): "\(file) cannot be opened (\(reason)). Check its folder and permissions."
      case .readOnly:
        "\(file) cannot be written to: it, its folder or its disk is read-only. Check their permissions, and who runs this."
      case .foreign(let reason): "\(file) \(reason). Choose another path."
      case .unknown(let reason):
        "\(file) \(reason). Choose another path, or move the file away if no other program needs it."
      case .untrusted(let reason): "\(file) \(reason)"
      case .replaced:
        "\(file) was replaced while it was read, so not all of it was seen. Do it again if the file there now is the right one."
      case .statement(let reason), .failed(let reason):
        "\(file) failed: \(reason). Check its disk. If the file is removed, a new one is made."
      }
    return DirectDNSError(.storeFailed, message)
  }
}
