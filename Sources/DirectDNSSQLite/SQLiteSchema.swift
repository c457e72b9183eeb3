// SPDX-License-Identifier: Apache-2.0
/// What stands in the file, by version.
///
/// A file says its version in `user_version`, and that it is ours in `application_id`.
enum SQLiteSchema {
  /// `DDNS`.
  static let applicationID: Int64 = 0x4444_4e53

  /// Each step takes a file from the version that is its index to the next one.
  static let steps = [
    """
    CREATE TABLE answers (
      host TEXT NOT NULL, family INTEGER NOT NULL, gone INTEGER NOT NULL, line TEXT NOT NULL,
      PRIMARY KEY (host, family)
    ) WITHOUT ROWID;
    CREATE INDEX answers_by_end ON answers (gone);
    """
  ]

  /// The steps that a file still needs.
  ///
  /// - Parameters:
  ///   - version: the file's `user_version`.
  ///   - applicationID: the file's `application_id`.
  ///   - isEmpty: whether there is nothing in it.
  ///   - steps: all there are.
  /// - Returns: the steps, in their order.
  /// - Throws: why the file must be left alone.
  static func missing(
    version: Int64, applicationID: Int64, isEmpty: Bool, steps: [String] = steps
  ) throws(SQLiteError) -> ArraySlice<String> {
    if isEmpty, version == 0, applicationID == 0 { return steps[...] }
    guard applicationID == Self.applicationID else { throw .foreign("is a database of another program") }
    guard version > 0, version <= steps.count else {
      throw .foreign("is of version \(version), and this program knows versions up to \(steps.count)")
    }
    return steps[Int(version)...]
  }
}
