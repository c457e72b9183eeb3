// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A disk in memory, so small that it can be filled; only root can have one.
enum SmallDisk {
  static let isPossible: Bool = {
    guard geteuid() == 0, let folder = try? Folder(), mount(at: folder.url, size: "64k") else { return false }
    return unmount(folder.url)
  }()

  static func mount(at folder: URL, size: String) -> Bool {
    run("mount", "-t", "tmpfs", "-o", "size=\(size)", "none", folder.path)
  }

  static func makeReadOnly(_ folder: URL) -> Bool { run("mount", "-o", "remount,ro", folder.path) }

  /// Also while files on it are open.
  @discardableResult
  static func unmount(_ folder: URL) -> Bool { run("umount", "-l", folder.path) }

  private static func run(_ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
