internal import CDirectDNSSQLite

/// The file under a database: made, recognised, and set aside.
struct SQLiteFile: Sendable, Hashable {
  let path: String
  private let device: UInt64
  private let number: UInt64

  /// The file that a path leads to just now; nothing if there is none.
  init?(at path: String) {
    let found = unsafe directdns_file(path)
    guard found.exists != 0 else { return nil }
    self.path = path
    device = found.device
    number = found.number
  }

  /// The file that a path leads to, new and empty if there was none, and then for its owner's eyes only.
  static func made(at path: String) throws(SQLiteError) -> SQLiteFile {
    for index in path.indices where path[index] == "/" && index != path.startIndex {
      // Whether that worked shows when the file is made.
      _ = unsafe directdns_make_folder(String(path[..<index]))
    }
    let status = unsafe directdns_create_private(path)
    guard status == 0, let file = SQLiteFile(at: path) else {
      throw .unusable(unsafe String(cString: directdns_reason(status)))
    }
    return file
  }

  /// Keeps a damaged file beside the new one, for whoever wants to know; there is one such file at most.
  ///
  /// Nothing happens if the path leads to another file by now: another process was faster.
  func setAside() {
    let damaged = directdns_file_identity(exists: 1, device: device, number: number)
    unsafe directdns_set_aside(path, path + "-wal", path + "-shm", path + ".damaged", damaged)
  }
}
