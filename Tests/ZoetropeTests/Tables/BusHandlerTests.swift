#if DEBUG
  import SystemPackage
  import Testing
  import ZoetropeShims

  /// How the handler of SIGBUS finds the mapping of a fault.
  @Suite(.timeLimit(.minutes(10))) struct BusHandlerTests {
    @Test func `a slot that gets another mapping while it is read explains nothing`() throws {
      let scratch = try ScratchDirectory()
      let file = try FileDescriptor.open(
        scratch.path.appending("pages"), .readWrite, options: .create,
        permissions: .ownerReadWrite)
      defer { try? file.close() }
      // Every range below lies in this mapping, so that no fault elsewhere is mistaken for its own.
      let (page, count) = (1 << 16, 64 << 16)
      try file.resize(to: Int64(count))
      let first = unsafe try #require(zt_map(file.rawValue, count))
      defer { unsafe zt_unmap(first) }
      let (third, next) = unsafe (first + 40 * page, first + 50 * page)
      unsafe zt_set_range_for_test(first, page, first, false)
      #expect(unsafe zt_is_mapped(first) && !zt_is_mapped(third))
      // Between the start of the first mapping and the end of the next one.
      unsafe zt_set_range_for_test(first, page, next, true)
      #expect(unsafe !zt_is_mapped(third))
      #expect(unsafe zt_is_mapped(next) && !zt_is_mapped(first))
      unsafe zt_set_range_for_test(next, count, first, false)
      #expect(unsafe zt_is_mapped(third))
    }
  }
#endif
