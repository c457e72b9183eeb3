// SPDX-License-Identifier: Apache-2.0
/// Where a body is written to, opened when its first byte comes.
struct FetchSink {
  let file: OutputFile?
  let output: any OutputSink
  /// What is stored with a file that is written from its beginning.
  private let record: ResumeRecord?
  private var isOpen: Bool
  private(set) var hasWritten = false
  /// How many of the next bytes may not be binary.
  private var checked: Int

  /// - Parameters:
  ///   - file: the file; nil for the output.
  ///   - output: where it goes without a file.
  ///   - record: what is stored with a file that is written from its beginning.
  ///   - isOpen: whether the file is open already.
  ///   - refusesBinary: whether the output is a terminal, which a binary body may leave unusable.
  init(
    file: OutputFile?, output: any OutputSink, record: ResumeRecord?, isOpen: Bool, refusesBinary: Bool
  ) {
    // curl looks as far (tool_cb_wrt.c).
    checked = refusesBinary ? 2000 : 0
    self.file = file
    self.output = output
    self.record = record
    self.isOpen = isOpen
  }

  mutating func write(_ bytes: [UInt8]) throws(StreamError) {
    guard !bytes.isEmpty else { return }
    guard checked == 0 || !bytes.contains(0) else {
      throw .failed(
        "the body is binary, and may leave the terminal unusable; -o FILE puts it into a file, -o - shows it all the same"
      )
    }
    checked = max(0, checked - bytes.count)
    try open()
    hasWritten = true
    if let file { try file.write(bytes) } else { try output.write(bytes) }
  }

  /// The body is complete; an empty one makes an empty file.
  mutating func finish() throws(StreamError) {
    try open()
    try file?.finish()
  }

  private mutating func open() throws(StreamError) {
    guard !isOpen else { return }
    try file?.openAnew(record)
    isOpen = true
  }
}
