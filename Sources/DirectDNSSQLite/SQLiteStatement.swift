// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSQLite

/// A prepared statement: bound, stepped through and reset in one call.
@safe struct SQLiteStatement: ~Copyable {
  private let pointer: OpaquePointer

  init(_ connection: OpaquePointer, _ sql: String) throws(SQLiteError) {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else { throw unsafe SQLiteError(code, connection) }
    unsafe pointer = prepared
  }

  deinit { unsafe sqlite3_finalize(pointer) }

  /// What a placeholder stands for.
  enum Value: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    case real(Double)
    /// Bytes as they are stored; as text they need not be UTF-8.
    case bytes([UInt8], isText: Bool)
  }

  /// Runs the statement, and shows each row.
  borrowing func run(_ values: [Value] = [], row: (borrowing Row) -> Void = { _ in }) throws(SQLiteError) {
    defer {
      unsafe sqlite3_reset(pointer)
      unsafe sqlite3_clear_bindings(pointer)
    }
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      let code =
        switch value {
        case .text(let text): unsafe directdns_sqlite_bind_text(pointer, place, text, Int32(text.utf8.count))
        case .integer(let integer): unsafe sqlite3_bind_int64(pointer, place, integer)
        case .real(let real): unsafe sqlite3_bind_double(pointer, place, real)
        case .bytes(let bytes, isText: true):
          unsafe bytes.withUnsafeBytes {
            unsafe directdns_sqlite_bind_text(
              pointer, place, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
          }
        case .bytes(let bytes, isText: false):
          unsafe bytes.withUnsafeBytes {
            unsafe directdns_sqlite_bind_blob(pointer, place, $0.baseAddress, Int32($0.count))
          }
        }
      guard code == SQLITE_OK else { throw unsafe SQLiteError(code, sqlite3_db_handle(pointer)) }
    }
    while true {
      let code = unsafe sqlite3_step(pointer)
      switch code {
      case SQLITE_ROW: unsafe row(Row(pointer))
      case SQLITE_DONE: return
      default: throw unsafe SQLiteError(code, sqlite3_db_handle(pointer))
      }
    }
  }

  /// The row that a statement stands at.
  @safe struct Row: ~Copyable {
    private let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    borrowing func text(_ column: Int32) -> String {
      guard let bytes = unsafe sqlite3_column_text(pointer, column) else { return "" }
      let count = unsafe Int(sqlite3_column_bytes(pointer, column))
      return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// What stands there, exactly: bound again it is equal to itself.
    borrowing func value(_ column: Int32) -> Value {
      let type = unsafe sqlite3_column_type(pointer, column)
      switch type {
      case SQLITE_INTEGER: return .integer(integer(column))
      case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(pointer, column))
      default:
        let isText = type == SQLITE_TEXT
        let bytes: UnsafeRawPointer? =
          isText
          ? unsafe UnsafeRawPointer(sqlite3_column_text(pointer, column)) : unsafe sqlite3_column_blob(pointer, column)
        // Without memory for them, as the next step says, there are none, whatever their number.
        let count = unsafe bytes == nil ? 0 : Int(sqlite3_column_bytes(pointer, column))
        return .bytes(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count)), isText: isText)
      }
    }

    borrowing func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }
  }
}

extension SQLiteError {
  /// The error that a connection has just reported.
  init(_ code: Int32, _ connection: OpaquePointer?) {
    let reason = unsafe sqlite3_system_errno(connection)
    // SQLite's words for that, "unable to open database file", do not say why.
    let message =
      if code & 0xff == SQLITE_CANTOPEN, reason != 0 {
        unsafe String(cString: directdns_reason(reason))
      } else {
        unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) } ?? "error \(code)"
      }
    self.init(code, message, reason: reason)
  }
}
