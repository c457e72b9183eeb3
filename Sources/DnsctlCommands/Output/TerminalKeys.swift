// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Makes the terminal deliver each key as it is pressed, without showing it, and restores it later.
///
/// Ctrl-C stays a signal.
enum TerminalKeys {
  private static let before = Mutex<termios?>(nil)

  /// Takes the keys, or restores the terminal.
  static func take(_ isTaken: Bool) {
    before.withLock { before in
      guard isTaken else {
        if var mode = before.take() { unsafe tcsetattr(StandardDescriptor.input, TCSANOW, &mode) }
        return
      }
      var mode = termios()
      guard before == nil, unsafe tcgetattr(StandardDescriptor.input, &mode) == 0 else { return }
      before = mode
      mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
      unsafe tcsetattr(StandardDescriptor.input, TCSANOW, &mode)
    }
  }
}
