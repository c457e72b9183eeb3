// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ActionListTests {
  @Test func `actions are taken together and in order, until there are none`() {
    var list = ActionList<Int>()
    list.append(1)
    list.append(2)
    #expect(list.waiting == [1, 2] && !list.isEmpty)
    #expect(list.take() == [1, 2])
    #expect(list.isEmpty && list.take() == nil)
  }

  @Test func `an action that is added while others are carried out is taken next`() {
    var list = ActionList<Int>()
    list.append(3)
    var done: [Int] = []
    while var due = list.take() {
      for action in due {
        done.append(action)
        if action > 0 { list.append(action - 1) }
      }
      list.reuse(&due)
    }
    #expect(done == [3, 2, 1, 0])
  }

  @Test func `an action that has become wrong is taken back while it waits`() {
    var list = ActionList<Int>()
    for action in [1, 2, 1, 3] { list.append(action) }
    list.remove { $0 == 1 }
    #expect(list.take() == [2, 3])
  }

  @Test func `the memory of actions that were carried out serves the next ones but one, without a new allocation`() {
    var list = ActionList<Int>()
    func place(_ actions: [Int]) -> UnsafePointer<Int>? {
      unsafe actions.withUnsafeBufferPointer { $0.baseAddress }
    }
    for action in 0..<100 { list.append(action) }
    let first = unsafe place(list.waiting)
    for action in 0..<2 {
      while var due = list.take() { list.reuse(&due) }
      list.append(action)
    }
    let third = unsafe place(list.waiting)
    #expect(unsafe first == third)
  }
}
