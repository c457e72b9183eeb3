// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Testing

@testable import DirectDNSTesting

struct OpenFilesTests {
  @Test func `without any no file can be opened, and afterwards as before`() async {
    // In a process of its own, whose limit is its own.
    await #expect(processExitsWith: .success) {
      func opens() -> Bool {
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
      }
      func opensWithNone() -> Bool { OpenFiles.withNone { opens() } }
      // libdispatch opens files of its own with the first timer, and ends a process that has none left for them.
      await withCheckedContinuation { (fired: CheckedContinuation<Void, Never>) in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { fired.resume() }
      }
      #expect(!opensWithNone() && opens())
      let opensLater = await OpenFiles.withNone {
        await Task.yield()
        return opens()
      }
      #expect(!opensLater && opens())
      let before = OpenFiles.limit(to: 50)
      #expect(before > 50 && OpenFiles.limit(to: before) == 50)
    }
  }
}
