// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import dnsctl_proxy

@Suite("What systemd means for a program")
struct ServiceStartTests {
  private func bytes(_ variables: [String]) -> [[UInt8]] { variables.map { Array($0.utf8) } }

  @Test(
    arguments: [
      (["LISTEN_PID=7", "LISTEN_FDS=1"], true), (["WATCHDOG_PID=7"], true), (["LISTEN_PID=8"], false),
      (["LISTEN_PID=77"], false), (["MY_LISTEN_PID=7"], false), (["NOTIFY_SOCKET=/run/n"], false), ([], false),
    ] as [([String], Bool)])
  func `it is started by way of this program where a variable means this process`(
    environment: [String], isNeeded: Bool
  ) {
    #expect(ServiceStart.isNeeded(bytes(environment), process: 7) == isNeeded)
  }

  @Test func `variables that meant one process mean another, and all else stays as it is`() {
    let environment = bytes(["a=b", "LISTEN_PID=7", "WATCHDOG_PID=8", "LISTEN_PIDFDID=3", "LISTEN_FDS=1"]) + [[0xff]]
    #expect(
      ServiceStart.variables(environment, for: 9, insteadOf: 7)
        == bytes(["a=b", "LISTEN_PID=9", "WATCHDOG_PID=8", "LISTEN_FDS=1"]) + [[0xff]])
  }

  @Test(
    arguments: [
      ("tool", ["PATH=/a:/b"], ["/a/tool", "/b/tool"]), ("tool", ["PATH="], ["tool"]),
      ("tool", [], ["/bin/tool", "/usr/bin/tool"]), ("./tool", ["PATH=/a"], ["./tool"]), ("", ["PATH=/a"], [""]),
    ] as [(String, [String], [String])])
  func `a program is searched for as execvp does`(program: String, environment: [String], places: [String]) {
    #expect(SearchPath(bytes(environment)).places(of: Array(program.utf8)) == bytes(places))
  }
}
