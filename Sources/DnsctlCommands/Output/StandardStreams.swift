// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

// The C calls whose names the methods below have too.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  unsafe read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}

/// Why a stream or a file could not be read or written.
package enum StreamError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reader of our output has gone.
  case closedPipe
  /// Anything else, in the system's words.
  case failed(String)

  /// What the last failed call left in `errno`.
  static var last: StreamError { StreamError(errno) }

  fileprivate init(_ code: Int32) {
    self = code == EPIPE ? .closedPipe : .failed(unsafe String(cString: strerror(code)))
  }

  package var reason: String {
    switch self {
    case .closedPipe: "its reader has gone"
    case .failed(let reason): reason
    }
  }

  package var description: String { reason }
}

/// Where text goes.
///
/// What was written is out when the call returns.
package protocol OutputSink: Sendable {
  func write(_ text: String) throws(StreamError)
  func write(_ bytes: [UInt8]) throws(StreamError)
}

extension OutputSink {
  /// Writes text for people, some of which may be anyone's: what acts on a terminal is escaped, but for the line ends.
  ///
  /// Whoever closed standard error does not want to know.
  package func say(_ text: String) { try? write(text.printableLines) }
}

/// Where bytes come from.
package protocol InputSource: Sendable {
  /// What is there, as soon as something is; empty at the end.
  func read() async throws(StreamError) -> [UInt8]
}

enum StandardDescriptor {
  static let input: Int32 = 0
  static let output: Int32 = 1
  static let errors: Int32 = 2

  /// Keeps the numbers of standard streams that are closed from the files and sockets that are opened next: what is
  /// written for people would go into them.
  ///
  /// They stay as good as closed: each is opened for what it is not used for, and a program that is started has it closed.
  static func keepClosed() {
    for descriptor in [input, output, errors] where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number that is free is taken, which is this one.
      _ = unsafe open("/dev/null", (descriptor == input ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
    }
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The window of the terminal that we write to; what windows have always had, where none says.
  static func windowSize() -> TerminalSize {
    for descriptor in [errors, output] {
      // What tty_ioctl(4) calls winsize, by its four numbers: of which module the type is depends on the C library.
      var window: (rows: UInt16, columns: UInt16, width: UInt16, height: UInt16) = (0, 0, 0, 0)
      if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.columns > 0, window.rows > 0 {
        return TerminalSize(columns: Int(window.columns), rows: Int(window.rows))
      }
    }
    return TerminalSize()
  }

  /// Waits until a descriptor that someone made non-blocking is ready; whoever shares it with us may have done so.
  fileprivate static func wait(_ descriptor: Int32, _ events: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    unsafe poll(&entry, 1, -1)
  }
}

/// A file descriptor that is written without a buffer, so that a pipe's reader sees each answer at once.
struct DescriptorOutput: OutputSink {
  let descriptor: Int32

  func write(_ text: String) throws(StreamError) {
    var text = text
    if let error = text.withUTF8({ unsafe writeAll(UnsafeRawBufferPointer($0)) }) { throw error }
  }

  func write(_ bytes: [UInt8]) throws(StreamError) {
    if let error = unsafe bytes.withUnsafeBytes({ unsafe writeAll($0) }) { throw error }
  }

  private func writeAll(_ bytes: UnsafeRawBufferPointer) -> StreamError? {
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
      let count = unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
      if count >= 0 {
        unsafe rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        StandardDescriptor.wait(descriptor, POLLOUT)
      } else if errno != EINTR {
        return .last
      }
    }
    return nil
  }
}

/// A file descriptor that is read on a thread of its own: a read waits for as long as it likes, and the threads that
/// lookups run on are few.
struct DescriptorInput: InputSource {
  let descriptor: Int32
  private static let chunk = 65_536
  private static let queue = DispatchQueue(label: "dnsctl.input")

  func read() async throws(StreamError) -> [UInt8] {
    let result: Result<[UInt8], StreamError> = await withCheckedContinuation { continuation in
      Self.queue.async { continuation.resume(returning: Self.read(descriptor, atMost: Self.chunk)) }
    }
    return try result.get()
  }

  fileprivate static func read(_ descriptor: Int32, atMost limit: Int) -> Result<[UInt8], StreamError> {
    while true {
      // Kept at once: what runs in between may set `errno` anew.
      var code: Int32 = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
        let read = unsafe systemRead(descriptor, UnsafeMutableRawBufferPointer(buffer))
        count = max(0, read)
        if read < 0 { code = errno }
      }
      switch code {
      case 0: return .success(bytes)
      case EAGAIN: StandardDescriptor.wait(descriptor, POLLIN)
      case EINTR: continue
      default: return .failure(StreamError(code))
      }
    }
  }
}

/// A FIFO or a device that is read on a thread of its own; it is opened when its first bytes are wanted.
final class PipeInput: InputSource {
  private let path: String
  private let queue = DispatchQueue(label: "dnsctl.pipe")
  private let file = Mutex<ReadableFile?>(nil)

  init(_ path: String) { self.path = path }

  func read() async throws(StreamError) -> [UInt8] {
    let result: Result<[UInt8], FileFailure> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.next()) }
    }
    do throws(FileFailure) { return try result.get() } catch { throw StreamError(error) }
  }

  private func next() -> Result<[UInt8], FileFailure> {
    file.withLock { file in
      do throws(FileFailure) {
        let opened = if let file { file } else { try ReadableFile(path) }
        file = opened
        return .success(try opened.read(65_536))
      } catch { return .failure(error) }
    }
  }
}

/// A file's bytes; nil if there is no such file.
///
/// A device or a pipe need not end: of 256 MiB it is said that they are too many.
func readWholeFile(_ path: String) throws(StreamError) -> [UInt8]? {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else {
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw .last
  }
  defer { close(descriptor) }
  var all: [UInt8] = []
  while true {
    let part = try DescriptorInput.read(descriptor, atMost: 65_536).get()
    if part.isEmpty { return all }
    all += part
    guard all.count <= 256 << 20 else { throw .failed("it is longer than 256 MiB") }
  }
}

/// Whether a path leads to a plain file, which can be read again and again.
func isRegularFile(_ path: String) -> Bool {
  var information = stat()
  return unsafe stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
}

/// Whether two paths lead to one file that is there.
func isSameFile(_ one: String, _ other: String?) -> Bool {
  guard let other, one != Pipeline.inputMark else { return false }
  var (first, second) = (stat(), stat())
  guard unsafe stat(one, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
  // A device takes whatever comes.
  return first.st_mode & S_IFMT == S_IFREG && first.st_dev == second.st_dev && first.st_ino == second.st_ino
}

/// Whether a path leads to a FIFO, a socket or a device, which may keep whoever reads it waiting.
func isPipe(_ path: String) -> Bool {
  var information = stat()
  guard unsafe stat(path, &information) == 0 else { return false }
  return [S_IFIFO, S_IFCHR, S_IFSOCK].contains(information.st_mode & S_IFMT)
}

/// How long a file is; nil if there is none.
func fileLength(_ path: String) -> Int64? {
  var information = stat()
  return unsafe stat(path, &information) == 0 ? Int64(information.st_size) : nil
}
