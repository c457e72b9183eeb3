/// Addresses in an order that matters. Up to four are held without an allocation.
public struct AddressList: RandomAccessCollection, Sendable, ExpressibleByArrayLiteral {
  // Cached lookups hand these out by the million: four addresses cover nearly every name.
  private var inline: InlineArray<4, IPAddress>
  private var overflow: [IPAddress]?
  private var inlineCount: UInt8

  /// Creates an empty list.
  @inline(__always)
  public init() {
    inline = InlineArray(repeating: .ipv4(0))
    overflow = nil
    inlineCount = 0
  }

  /// Creates a list of those addresses, in their order.
  public init(_ addresses: some Sequence<IPAddress>) {
    self.init()
    for address in addresses { append(address) }
  }

  /// Creates a list of those addresses, in their order.
  public init(arrayLiteral elements: IPAddress...) { self.init(elements) }

  /// Adds an address at the end.
  @inline(__always)
  public mutating func append(_ address: IPAddress) {
    if overflow == nil, inlineCount < 4 {
      inline[Int(inlineCount)] = address
      inlineCount += 1
    } else {
      appendBeyond(address)
    }
  }

  @inline(never)
  private mutating func appendBeyond(_ address: IPAddress) {
    var array = overflow ?? Array(self)
    overflow = nil
    array.append(address)
    overflow = array
  }

  /// 0, where the first address stands.
  public var startIndex: Int { 0 }

  /// The number of addresses.
  @inline(__always)
  public var endIndex: Int { overflow?.count ?? Int(inlineCount) }

  /// The address at a position below `count`.
  public subscript(position: Int) -> IPAddress {
    get {
      if let overflow { return overflow[position] }
      precondition(position < Int(inlineCount), "an index beyond the addresses")
      return inline[position]
    }
    set {
      if overflow != nil {
        overflow?[position] = newValue
      } else {
        precondition(position < Int(inlineCount), "an index beyond the addresses")
        inline[position] = newValue
      }
    }
  }
}

extension AddressList: MutableCollection {}

extension AddressList: Hashable, CustomStringConvertible {
  /// Whether the same addresses stand in the same order.
  public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

  /// Feeds every address.
  public func hash(into hasher: inout Hasher) {
    for address in self { hasher.combine(address) }
  }

  /// The addresses in brackets, with commas.
  public var description: String { "[" + map(\.description).joined(separator: ", ") + "]" }
}
