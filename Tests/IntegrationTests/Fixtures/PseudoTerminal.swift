// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Foundation
  import Glibc

  /// A terminal without a screen, at which `dnsctl` runs.
  final class PseudoTerminal {
    let process = Process()
    private let main: FileHandle
    private let side: FileHandle
    private let written = Written()

    /// What the program has written so far; it is filled on a thread of its own.
    private final class Written: @unchecked Sendable {
      // Safe to share: the lock is held wherever the text is touched.
      private let lock = NSLock()
      private var bytes: [UInt8] = []

      var text: String { lock.withLock { String(decoding: bytes, as: UTF8.self) } }

      func append(_ data: Data) { lock.withLock { bytes += data } }
    }

    /// Starts `dnsctl`, whose streams are the terminal's; standard error may be another file.
    init(_ arguments: [String], in folder: URL, errors: FileHandle? = nil) throws {
      let (descriptor, name) = try Self.open()
      main = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      let other = unsafe Glibc.open(name, O_RDWR | O_NOCTTY)
      guard other >= 0 else { throw ServerFixture.Failure("there is no \(name)") }
      side = FileHandle(fileDescriptor: other, closeOnDealloc: true)
      process.executableURL = Program.url
      process.arguments = arguments
      process.currentDirectoryURL = folder
      process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TERM": "xterm", "NO_COLOR": "1"]
      (process.standardInput, process.standardOutput, process.standardError) = (side, side, errors ?? side)
      Thread.detachNewThread { [main, written] in
        while case let data = main.availableData, !data.isEmpty { written.append(data) }
      }
      try ServerFixture.launch(process)
    }

    /// Both ends: `posix_openpt` and its like are not in the module, and are these calls (ioctl_tty(2)).
    private static func open() throws -> (descriptor: Int32, name: String) {
      let (lock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)  // TIOCSPTLCK, TIOCGPTN
      let descriptor = unsafe Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var (isLocked, place): (Int32, Int32) = (0, 0)
      guard descriptor >= 0, unsafe ioctl(descriptor, lock, &isLocked) == 0,
        unsafe ioctl(descriptor, number, &place) == 0
      else { throw ServerFixture.Failure("there is no pseudo terminal") }
      return (descriptor, "/dev/pts/\(place)")
    }

    deinit { ServerFixture.send(SIGKILL, to: process) }

    func type(_ text: String) throws { try main.write(contentsOf: Data(text.utf8)) }

    /// Gives the window another size.
    func resize(rows: UInt16, columns: UInt16) {
      var window = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      _ = unsafe ioctl(side.fileDescriptor, UInt(TIOCSWINSZ), &window)
    }

    /// Whether keys come line by line, and are shown.
    var isInLineMode: Bool {
      var mode = termios()
      unsafe tcgetattr(side.fileDescriptor, &mode)
      return mode.c_lflag & tcflag_t(ICANON) != 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Whether the program is stopped (proc_pid_stat(5)).
    var isStopped: Bool {
      let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
      return status?.split(separator: ")").last?.hasPrefix(" T") ?? false
    }

    func waitFor(_ what: String, _ isTrue: (String) -> Bool) async throws {
      let deadline = ContinuousClock.now + .seconds(30)
      while ContinuousClock.now < deadline {
        if isTrue(written.text) { return }
        try await Task.sleep(for: .milliseconds(5))
      }
      throw ServerFixture.Failure("it did not come to \(what):\n\(written.text)")
    }

    func waitFor(text: String) async throws { try await waitFor("\"\(text)\"") { $0.contains(text) } }

    func exitStatus() async throws -> Int32 {
      try await waitFor("its end") { _ in !process.isRunning }
      return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }
  }
#endif
