// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import dnsctl_proxy

@Suite("What a program inherits")
struct InheritedDescriptorsTests {
  @Test(arguments: [(O_CLOEXEC, true), (0, false)] as [(Int32, Bool)])
  func `it gets what this process inherited, and not what has the number of a file of ours`(
    flag: Int32, isClosed: Bool
  ) throws {
    let descriptor = unsafe open("/dev/null", O_RDONLY | flag)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let inherited = InheritedDescriptors()
    // As SwiftNIO opens its files, once the number is free again.
    #expect(fcntl(descriptor, F_SETFD, 0) == 0)
    inherited.closeOthersOnExec()
    #expect((fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) == isClosed)
  }

  @Test func `they are found without /dev/fd, too`() throws {
    let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    #expect(InheritedDescriptors.tried().contains(descriptor))
    close(descriptor)
  }
}
