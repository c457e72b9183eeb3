// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

@Suite("The order of a pipeline")
struct PipelineOrderTests {
  /// All steps until there is only waiting left, as words.
  private func steps(_ order: inout PipelineOrder<String>) -> [String] {
    var steps: [String] = []
    while true {
      switch order.next() {
      case .read: steps.append("read")
      case .work(let number, let item): steps.append("\(number) \(item.text)")
      case .wait: return steps + ["wait"]
      case .end: return steps + ["end"]
      }
    }
  }

  private func order(_ arguments: [String]) -> PipelineOrder<String> { PipelineOrder(arguments, LineSplitter()) }

  @Test func `without arguments there is nothing to do`() {
    var order = order([])
    #expect(steps(&order) == ["end"])
  }

  @Test func `standard input is read where it stands among the arguments`() {
    var order = order(["a", "-", "b"])
    #expect(steps(&order) == ["0 a", "read", "wait"])
    order.read(Array("c\nd\n# no name\ne".utf8))
    #expect(steps(&order) == ["1 c", "2 d", "read", "wait"])
    order.read([])
    #expect(steps(&order) == ["3 e", "4 b", "wait"])
  }

  @Test func `it waits for standard input while nothing is worked on`() {
    var order = order(["-"])
    #expect(steps(&order) == ["read", "wait"])
    order.read([])
    #expect(steps(&order) == ["end"])
  }

  @Test func `what was begun before standard input fails is handed on, and nothing else begins`() {
    var order = order(["-", "b"])
    #expect(steps(&order) == ["read", "wait"])
    order.read(Array("a\npart".utf8))
    #expect(steps(&order) == ["0 a", "read", "wait"])
    order.readFailed()
    #expect(steps(&order) == ["wait"])
    #expect(order.ended(0, "A") == ["A"])
    #expect(steps(&order) == ["end"])
  }

  @Test func `what ends early is held until everything before it has ended`() {
    var order = order(["a", "b", "c"])
    #expect(steps(&order) == ["0 a", "1 b", "2 c", "wait"])
    #expect(order.ended(2, "C") == [])
    #expect(order.ended(0, "A") == ["A"])
    #expect(steps(&order) == ["wait"])
    #expect(order.ended(1, "B") == ["B", "C"])
    #expect(steps(&order) == ["end"])
  }

  @Test func `no more is under way at a time than there is width for`() {
    var order = order((0...Pipeline.width).map { "\($0)" })
    #expect(steps(&order).count == Pipeline.width + 1)
    #expect(order.ended(5, "") == [])
    #expect(steps(&order) == ["\(Pipeline.width) \(Pipeline.width)", "wait"])
  }

  @Test func `a slow item holds back those after it once the window is full, and reading with them`() {
    var order = order((0..<Pipeline.window).map { "\($0)" } + ["late", "-"])
    var begun = 0
    while begun < Pipeline.window {
      guard case .work(let number, _) = order.next() else { continue }
      begun += 1
      if number > 0 { #expect(order.ended(number, "") == []) }
    }
    #expect(steps(&order) == ["wait"])
    #expect(order.ended(0, "").count == Pipeline.window)
    #expect(steps(&order) == ["\(Pipeline.window) late", "read", "wait"])
  }
}
