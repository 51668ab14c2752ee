! A library of one transform as a plugin, in Fortran: complex slabs. Transforms of the planes, one exchange without
! packing (MPI_Alltoallw), transforms along the first axis; backward the same way back.
module slab
  use, intrinsic :: iso_c_binding
  use mpi
  use fourscore
  implicit none
  include 'fftw3.f03'

  type :: plan_t
    integer :: comm, ranks, rank
    type(box_t) :: first_box, last_box
    type(c_ptr) :: first = c_null_ptr, last = c_null_ptr
    complex(c_double_complex), pointer :: scratch(:)
    type(c_ptr) :: scratch_memory
    integer, allocatable :: ones(:), zeros(:), send(:), receive(:)
    type(c_ptr) :: clock
    procedure(begin_phase), pointer, nopass :: begin => null()
    procedure(end_phase), pointer, nopass :: end => null()
  end type

  character(kind=c_char), target, save :: error(200) = c_null_char

contains

  !> What rank `rank` holds where `axis` (1 or 2, of axes 0 and 1) is cut.
  function box_of(shape, axis, ranks, rank) result(box)
    integer(c_int64_t), intent(in) :: shape(3)
    integer, intent(in) :: axis, ranks, rank
    type(box_t) :: box
    box%low = 0
    box%high = shape
    box%order = [0, 1, 2]
    box%low(axis) = shape(axis) * rank / ranks
    box%high(axis) = shape(axis) * (rank + 1) / ranks
  end function

  !> The part of `mine` that is also in `other`, as MPI's type; Fortran's first axis is the fastest.
  integer function part_of(mine, other)
    type(box_t), intent(in) :: mine, other
    integer :: all(3), part(3), first(3), code
    all = int(mine%high - mine%low)
    part = int(min(mine%high, other%high) - max(mine%low, other%low))
    first = int(max(mine%low, other%low) - mine%low)
    call MPI_Type_create_subarray(3, all(3:1:-1), part(3:1:-1), first(3:1:-1), MPI_ORDER_FORTRAN, &
                                  MPI_DOUBLE_COMPLEX, part_of, code)
    call MPI_Type_commit(part_of, code)
  end function

  integer(c_int) function plugin_version_of() bind(C, name='fourscore_plugin_version')
    plugin_version_of = plugin_version
  end function

  type(c_ptr) function last_error() bind(C, name='fourscore_last_error')
    last_error = c_loc(error)
  end function

  integer(c_int) function describe(index, transform) bind(C, name='fourscore_describe')
    integer(c_int), value :: index
    type(transform_t), intent(inout) :: transform
    describe = 1
    if (index /= 0) return
    call put_text('fortran-slab', transform%name)
    call put_text('slabs in Fortran: one MPI_Alltoallw, no packing', transform%summary)
    transform%kinds = c2c
    transform%precisions = double_precision
    describe = 0
  end function

  integer(c_int) function supports(index, problem, ranks) bind(C, name='fourscore_supports')
    integer(c_int), value :: index, ranks
    type(problem_t), intent(in) :: problem
    supports = 1
    if (problem%axes < 2 .or. problem%layout /= transposed .or. problem%threads > 1) then
      call put_text('fortran-slab takes two or three axes, transposed output and one thread', error)
    else if (any(problem%shape(1:2) < ranks)) then
      call put_text('fortran-slab gives each rank a plane of the first axis and of the second', error)
    else
      supports = 0
    end if
  end function

  integer(c_int) function create(index, problem, comm, plan) bind(C, name='fourscore_create')
    integer(c_int), value :: index, comm
    type(problem_t), intent(in) :: problem
    type(c_ptr), intent(out) :: plan
    type(plan_t), pointer :: p
    integer :: code, rank, axis
    integer(c_int) :: effort, sign
    integer(c_size_t) :: elements
    allocate (p)
    p%comm = comm
    call MPI_Comm_size(p%comm, p%ranks, code)
    call MPI_Comm_rank(p%comm, p%rank, code)
    axis = merge(2, 1, problem%direction == backward)
    sign = merge(FFTW_BACKWARD, FFTW_FORWARD, problem%direction == backward)
    effort = merge(FFTW_ESTIMATE, merge(FFTW_MEASURE, FFTW_PATIENT, problem%effort == measure), problem%effort == estimate)
    p%first_box = box_of(problem%shape, axis, p%ranks, p%rank)
    p%last_box = box_of(problem%shape, 3 - axis, p%ranks, p%rank)
    allocate (p%ones(p%ranks), p%zeros(p%ranks), p%send(p%ranks), p%receive(p%ranks))
    p%ones = 1
    p%zeros = 0
    do rank = 0, p%ranks - 1
      p%send(rank + 1) = part_of(p%first_box, box_of(problem%shape, 3 - axis, p%ranks, rank))
      p%receive(rank + 1) = part_of(p%last_box, box_of(problem%shape, axis, p%ranks, rank))
    end do
    elements = max(product(p%first_box%high - p%first_box%low), product(p%last_box%high - p%last_box%low))
    p%scratch_memory = fftw_alloc_complex(elements)
    call c_f_pointer(p%scratch_memory, p%scratch, [elements])
    p%first = plan_of(p%first_box, axis, elements, .true.)
    p%last = plan_of(p%last_box, 3 - axis, elements, .false.)
    plan = c_loc(p)
    create = 0

  contains

    !> Planes where axis 0 is cut, else columns along it; arrays stand for those that execute() is given.
    type(c_ptr) function plan_of(box, cut, elements, in_place)
      type(box_t), intent(in) :: box
      integer, intent(in) :: cut
      integer(c_size_t), intent(in) :: elements
      logical, intent(in) :: in_place
      complex(c_double_complex), pointer :: in(:), out(:)
      type(c_ptr) :: memory
      integer(c_int) :: n(3), area
      n = int(box%high - box%low, c_int)
      area = n(2) * n(3)
      memory = fftw_alloc_complex(elements)
      call c_f_pointer(memory, out, [elements])
      in => p%scratch
      if (in_place) in => out
      if (cut == 1) then
        plan_of = fftw_plan_many_dft(2, n(2:3), n(1), in, n(2:3), 1, area, out, n(2:3), 1, area, sign, effort)
      else
        plan_of = fftw_plan_many_dft(1, n(1:1), area, in, n(1:1), area, 1, out, n(1:1), area, 1, sign, effort)
      end if
      call fftw_free(memory)
    end function

  end function

  integer(c_int) function boxes(plan, before, after) bind(C, name='fourscore_boxes')
    type(c_ptr), value :: plan
    type(box_t), intent(out) :: before, after
    type(plan_t), pointer :: p
    call c_f_pointer(plan, p)
    before = p%first_box
    after = p%last_box
    boxes = 0
  end function

  !> Memory of the boxes' sizes will do.
  integer(c_int) function buffers(plan, memory) bind(C, name='fourscore_buffers')
    type(c_ptr), value :: plan
    type(buffers_t), intent(inout) :: memory
    buffers = merge(0, 1, c_associated(plan) .and. .not. c_associated(memory%before))
  end function

  integer(c_int) function set_phases(plan, phases) bind(C, name='fourscore_set_phases')
    type(c_ptr), value :: plan
    type(phases_t), intent(in) :: phases
    type(plan_t), pointer :: p
    call c_f_pointer(plan, p)
    p%clock = phases%clock
    call c_f_procpointer(phases%begin, p%begin)
    call c_f_procpointer(phases%end, p%end)
    set_phases = 0
  end function

  integer(c_int) function execute(plan, before, after) bind(C, name='fourscore_execute')
    type(c_ptr), value :: plan, before, after
    type(plan_t), pointer :: p
    complex(c_double_complex), pointer :: in(:), out(:)
    integer :: code
    call c_f_pointer(plan, p)
    call c_f_pointer(before, in, [size(p%scratch)])
    call c_f_pointer(after, out, [size(p%scratch)])
    call p%begin(p%clock, phase_fft)
    call fftw_execute_dft(p%first, in, in)
    call p%begin(p%clock, phase_exchange)
    call MPI_Alltoallw(in, p%ones, p%zeros, p%send, p%scratch, p%ones, p%zeros, p%receive, p%comm, code)
    call p%begin(p%clock, phase_fft)
    call fftw_execute_dft(p%last, p%scratch, out)
    call p%end(p%clock)
    execute = 0
  end function

  integer(c_int) function destroy(plan) bind(C, name='fourscore_destroy')
    type(c_ptr), value :: plan
    type(plan_t), pointer :: p
    integer :: rank, code
    call c_f_pointer(plan, p)
    do rank = 1, p%ranks
      call MPI_Type_free(p%send(rank), code)
      call MPI_Type_free(p%receive(rank), code)
    end do
    call fftw_destroy_plan(p%first)
    call fftw_destroy_plan(p%last)
    call fftw_free(p%scratch_memory)
    deallocate (p)
    destroy = 0
  end function

end module
