// SPDX-License-Identifier: Apache-2.0
/// Where a body is written to, opened when its first byte comes.
struct FetchSink {
  let file: OutputFile?
  let output: any OutputSink
  /// What is stored with a file that is written from its beginning.
  private let record: ResumeRecord?
  private var isOpen: Bool
  private(set) var hasWritten = false

  init(file: OutputFile?, output: any OutputSink, record: ResumeRecord?, isOpen: Bool) {
    self.file = file
    self.output = output
    self.record = record
    self.isOpen = isOpen
  }

  mutating func write(_ bytes: [UInt8]) throws(StreamError) {
    guard !bytes.isEmpty else { return }
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
