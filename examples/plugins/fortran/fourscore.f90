! The types and constants of fourscore.h for Fortran (ISO_C_BINDING). Boxes and shapes are as in C: low(1:3) belongs to
! axes 0, 1 and 2, the first of them slowest in memory, so that a(n2, n1, n0) is the array of shape n0 x n1 x n2.
module fourscore
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: plugin_version = 1
  integer(c_int32_t), parameter :: c2c = 1, r2c = 2
  integer(c_int32_t), parameter :: double_precision = 1, single_precision = 2
  integer(c_int32_t), parameter :: forward = 0, backward = 1
  integer(c_int32_t), parameter :: natural = 0, transposed = 1
  integer(c_int32_t), parameter :: estimate = 0, measure = 1, patient = 2
  integer(c_int32_t), parameter :: phase_fft = 0, phase_pack = 1, phase_exchange = 2, phase_unpack = 3

  type, bind(C) :: transform_t
    character(kind=c_char) :: name(64), summary(160), citation(160), version(64)
    integer(c_int32_t) :: kinds, precisions, grid_extents, thread_level
  end type

  type, bind(C) :: problem_t
    integer(c_int64_t) :: shape(3)
    integer(c_int32_t) :: axes, kind, precision, direction, layout, in_place, effort, threads, grid(3)
  end type

  type, bind(C) :: box_t
    integer(c_int64_t) :: low(3), high(3)
    integer(c_int32_t) :: order(3)
  end type

  type, bind(C) :: buffers_t
    type(c_ptr) :: before, after
    integer(c_size_t) :: before_bytes, after_bytes
  end type

  type, bind(C) :: phases_t
    type(c_ptr) :: clock
    type(c_funptr) :: begin, end
  end type

  abstract interface
    subroutine begin_phase(clock, phase) bind(C)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: clock
      integer(c_int32_t), value :: phase
    end subroutine
    subroutine end_phase(clock) bind(C)
      import :: c_ptr
      type(c_ptr), value :: clock
    end subroutine
  end interface

contains

  !> Writes text with a zero byte behind it.
  subroutine put_text(text, to)
    character(*), intent(in) :: text
    character(kind=c_char), intent(out) :: to(:)
    integer :: i
    do i = 1, len(text)
      to(i) = text(i:i)
    end do
    to(len(text) + 1) = c_null_char
  end subroutine

end module
