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
  /// Anything else, with the system's message.
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
/// Everything is written when a call returns.
package protocol OutputSink: Sendable {
  func write(_ text: String) throws(StreamError)
  func write(_ bytes: [UInt8]) throws(StreamError)
}

extension OutputSink {
  /// Writes text for people, parts of which may come from anywhere: what acts on a terminal is escaped, except line
  /// ends.
  ///
  /// Errors are ignored: standard error may be closed on purpose.
  package func say(_ text: String) { try? write(text.printableLines) }
}

/// Where bytes come from.
package protocol InputSource: Sendable {
  /// The bytes that are there, as soon as there are any; empty at the end.
  func read() async throws(StreamError) -> [UInt8]
}

extension InputSource {
  /// All bytes up to the end.
  func readToEnd() async throws(StreamError) -> [UInt8] {
    var all: [UInt8] = []
    while case let piece = try await read(), !piece.isEmpty { all += piece }
    return all
  }
}

enum StandardDescriptor {
  static let input: Int32 = 0
  static let output: Int32 = 1
  static let errors: Int32 = 2

  /// Keeps the numbers of closed standard streams from files and sockets that are opened later: messages for people
  /// would be written to those.
  ///
  /// They still act like closed ones: each is opened only for the direction that is not used, and is closed in child
  /// processes.
  static func keepClosed() {
    for descriptor in [input, output, errors] where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // open(2) takes the lowest free number, which is this one.
      let taken = unsafe open("/dev/null", (descriptor == input ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
      // Where there are no devices (chroot(2)): a folder is neither read nor written like a file.
      if taken < 0 { _ = unsafe open("/", O_RDONLY | O_CLOEXEC) }
    }
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The window of the terminal that we write to; 80 by 24 if there is none.
  static func windowSize() -> TerminalSize {
    for descriptor in [errors, output] {
      // The four numbers of `winsize` (tty_ioctl(4)): which module has that type depends on the C library.
      var window: (rows: UInt16, columns: UInt16, width: UInt16, height: UInt16) = (0, 0, 0, 0)
      if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.columns > 0, window.rows > 0 {
        return TerminalSize(columns: Int(window.columns), rows: Int(window.rows))
      }
    }
    return TerminalSize()
  }

  /// Waits until a non-blocking descriptor is ready; another process that shares it may have made it non-blocking.
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

/// A file descriptor that is read on a thread of its own: a read may block for any time, and lookups have few threads.
struct DescriptorInput: InputSource {
  let descriptor: Int32
  private static let chunk = 65_536
  private static let queue = DispatchQueue(label: "dnsctl.input")

  func read() async throws(StreamError) -> [UInt8] {
    let result: Result<[UInt8], StreamError> = await withCheckedContinuation { continuation in
      Self.queue.async { continuation.resume(returning: Self.read(descriptor)) }
    }
    return try result.get()
  }

  private static func read(_ descriptor: Int32) -> Result<[UInt8], StreamError> {
    while true {
      // Kept at once, before anything else sets `errno`.
      var code: Int32 = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
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

/// A FIFO or a device that is read on a thread of its own; it is opened for the first read.
final class PipeInput: InputSource {
  private let path: String
  private let queue = DispatchQueue(label: "dnsctl.pipe")
  private let file = Mutex<ReadableFile?>(nil)

  init(_ path: String) { self.path = path }

  func read() async throws(StreamError) -> [UInt8] {
    let result: Result<[UInt8], FileFailure> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.next()) }
    }
    return try result.mapError { StreamError.failed("\(path.printable) cannot be read: \($0.reason)") }.get()
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
